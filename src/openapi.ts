import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Json, JsonObject } from './kernel/json.js';
import { withNullTypes } from './platform/http/nullable-types.js';

/** What Lockstep posts to others, by the name of its type. */
type Webhooks = Readonly<Record<string, JsonObject>>;

/** Swagger UI at `/docs`, the document at `/docs-json`. */
export function serveOpenApi(app: INestApplication, webhooks: Webhooks): void {
  SwaggerModule.setup('docs', app, () => openApiOf(app, webhooks));
}

function openApiOf(app: INestApplication, webhooks: Webhooks): OpenAPIObject {
  const description =
    'A transaction manager for EVM chains. Hand it what to execute; it owns nonces, fees, signing, sending, resubmission and confirmations.';
  const info = new DocumentBuilder()
    .setTitle('Lockstep')
    .setDescription(description)
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .build();
  const document = SwaggerModule.createDocument(app, info);
  return { ...(withNullTypes(document as unknown as Json) as unknown as OpenAPIObject), webhooks };
}

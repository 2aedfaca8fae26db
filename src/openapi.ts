import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** Swagger UI at `/docs`, the document at `/docs-json`. */
export function serveOpenApi(app: INestApplication): void {
  const description =
    'A transaction manager for EVM chains. Hand it what to execute; it owns nonces, fees, signing, sending, resubmission and confirmations.';
  const document = new DocumentBuilder().setTitle('Lockstep').setDescription(description).setVersion('1').build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, document));
}

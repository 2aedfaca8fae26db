import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { JsonObject } from './kernel/json.js';
import { describeRules } from './platform/http/describe-rules.js';
import { ProblemDto } from './platform/http/problem.dto.js';
import { truthful } from './platform/http/truthful-document.js';
import { withProblems } from './problems.js';

/** What Lockstep posts to others, by the name of its type. */
type Webhooks = Readonly<Record<string, JsonObject>>;

const DESCRIPTION = `A transaction manager for EVM chains. Hand it what to execute; it owns nonces, fees, signing, sending, resubmission and confirmations.

1. \`GET /api/v1/signers\` lists the accounts that can send.
2. \`POST /api/v1/tx\` with a \`signer\`, a \`payload\` and a \`requestId\` of yours stores a transaction and answers with its \`txId\`. Send it again when you
   get no answer: the same \`requestId\` never sends twice.
3. \`GET /api/v1/tx/{txId}?waitFor=CONFIRMED\` waits until it is final. Events and webhooks tell the same without a request for each.

Addresses are in one case, or have their checksum (EIP-55; on chains 30 and 31 also EIP-1191): any other mix of cases is refused as a typo.

Every error is a problem (RFC 9457): \`code\` is for programs, \`advice\` says what to do, \`retryable\` whether the same request may succeed later.`;

/** In the order in which a client needs them. */
const TAGS = {
  transactions: 'Submit transactions and see what becomes of them',
  changes: 'Cancel, replace, or pay more for a transaction',
  events: 'Everything that happens, in order',
  webhooks: 'The same, posted to you',
  signers: 'The accounts that send: their owners, balances, pauses and nonces',
  chains: 'What a chain asks for',
  operations: 'Health and metrics',
} as const;

/** Swagger UI at `/docs`, the document at `/docs-json`. It is made before the node listens: it takes the event loop 84 ms. */
export function serveOpenApi(app: INestApplication, webhooks: Webhooks): void {
  SwaggerModule.setup('docs', app, openApiOf(app, webhooks));
}

function openApiOf(app: INestApplication, webhooks: Webhooks): OpenAPIObject {
  const info = new DocumentBuilder()
    .setTitle('Lockstep')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .setOpenAPIVersion('3.1.0');
  for (const [name, description] of Object.entries(TAGS)) info.addTag(name, description);
  describeRules();
  const document = SwaggerModule.createDocument(app, info.build(), { extraModels: [ProblemDto] });
  const described = truthful(withProblems(document) as unknown as JsonObject) as unknown as OpenAPIObject;
  return { ...described, webhooks };
}

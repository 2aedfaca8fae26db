import { createRequire } from 'node:module';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { JsonObject } from './kernel/json.js';
import { eventDocument } from './modules/events/index.js';
import { describeRules } from './platform/http/describe-rules.js';
import { withNamedSchemas } from './platform/http/named-schemas.js';
import { ProblemDto } from './platform/http/problem.dto.js';
import { truthful } from './platform/http/truthful-document.js';
import { withProblems } from './problems.js';
import { withSecurity } from './security.js';

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string };

const DESCRIPTION = `A transaction manager for EVM chains. Hand it what to execute; it owns nonces, fees, signing, sending, resubmission and confirmations.

1. \`GET /api/v1/signers\` lists the accounts that can send.
2. \`POST /api/v1/tx\` with a \`signer\`, a \`payload\` and a \`requestId\` of yours stores a transaction and answers with its \`txId\`. Send it again when you
   get no answer: the same \`requestId\` never sends twice.
3. \`GET /api/v1/tx/{txId}?waitFor=CONFIRMED\` waits until it is final. Events and webhooks tell the same without a request for each.

With \`npm start\` this is a first transaction:

\`\`\`sh
curl -sS http://localhost:3000/api/v1/tx -H "Authorization: Bearer $(cat .lockstep/dev-key)" -H 'content-type: application/json' -d '{
  "signer": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "requestId": "my-first",
  "payload": { "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "1000000000000000" }
}'
\`\`\`

Every request of \`/api/v1\` carries a key as \`Authorization: Bearer …\`, and each operation names the scope that the key needs.

Addresses are in one case, or have their checksum (EIP-55; on chains 30 and 31 also EIP-1191): any other mix of cases is refused as a typo.

Every answer has an \`X-Request-Id\`, that of the request if it has one. A path answers a method that it does not take with 405 and \`Allow\`, and \`OPTIONS\`
with 204 and \`Allow\`; what it answers to \`GET\` it answers to \`HEAD\` without the body.

Every error is a problem (RFC 9457): \`code\` is for programs, \`advice\` says what to do, \`retryable\` whether the same request may succeed later.`;

/** In the order in which a client needs them. */
const TAGS = {
  transactions: 'Submit transactions and see what becomes of them',
  changes: 'Cancel, replace, or pay more for a transaction',
  events: 'Everything that happens, in order',
  webhooks: 'The same, posted to you',
  signers: 'The accounts that send: their owners, balances, pauses and nonces',
  nonces: 'Reserve nonces for systems that sign and send themselves',
  chains: 'What a chain asks for',
  keys: 'Who may call, and what each may do',
  policies: 'What a signer may sign',
  accounts: 'Who owns keys, and how much each may use',
  audit: 'What administrators did',
  operations: 'Health and metrics',
} as const;

export function openApiOf(app: INestApplication): OpenAPIObject {
  const { webhooks, schemas } = eventDocument();
  const info = new DocumentBuilder()
    .setTitle('Lockstep')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setOpenAPIVersion('3.1.0')
    .addServer('/', 'The node that shows this document');
  for (const [name, description] of Object.entries(TAGS)) info.addTag(name, description);
  describeRules();
  const document = SwaggerModule.createDocument(app, info.build(), { extraModels: [ProblemDto] });
  const described = truthful(withSecurity(withProblems(document)) as unknown as JsonObject);
  const known = (described['components'] as { readonly schemas: JsonObject }).schemas;
  return withNamedSchemas({ ...described, webhooks }, { ...known, ...schemas }) as unknown as OpenAPIObject;
}

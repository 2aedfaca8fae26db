import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_CODES, ProblemDto } from './platform/http/problem.dto.js';
import { problemDetails } from './platform/http/problem-details.js';

interface Operation {
  readonly [PROBLEM_CODES]?: readonly string[];
  readonly parameters?: readonly { readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: object;
}
type Texts = readonly [detail: string, advice: string];

const ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const SIGNER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

/** Every problem that a client can get, by status and code, as the OpenAPI document shows it. A test compares them with what the code throws. */
export const PROBLEMS: Readonly<Record<number, Readonly<Record<string, Texts>>>> = {
  400: {
    invalid_request: ['value must be a whole number from 0 to 2^256-1', 'correct the fields listed in errors'],
    unknown_field: ['payload.vlaue is not a known field', 'remove the fields listed in errors'],
    malformed_json: ['the body is not valid JSON', 'send one JSON object, encoded as UTF-8'],
    malformed_url: ['the path has a % that is not followed by two hex digits', 'percent-encode the path'],
    nested_too_deeply: ['the request is nested more than 32 deep', 'send a request with less nesting'],
    too_many_values: ['the body has more than 30000 values', 'send less at once, for example a smaller batch'],
    too_many_parameters: ['the query has more than 100 parameters', 'look up their names at /docs'],
    invalid_address: ['not a 20-byte address', 'send 0x followed by 40 hex digits'],
    invalid_checksum: [
      'the capitals of address 0x70997970c51812dc3A010C7d01b50e0d17dc79C8 are not its checksum, so it may have a typo',
      'compare every digit with the address that you mean; then send that one with its checksum, or in lower case',
    ],
    invalid_chain_id: ['not a chain id', 'send the EIP-155 id of a configured chain'],
    invalid_cursor: ['not a cursor of this API', 'send the nextCursor of the previous page, unchanged'],
    invalid_event_id: ['not the id of an event', 'send the id of an event or a nextCursor, unchanged'],
    missing_chain_id: ['several chains are configured', 'send a chainId'],
    missing_request_id: ['requestId is missing', 'send a requestId that is unique per signer'],
    invalid_request_id: ['requestId has control characters', 'send up to 200 printable characters'],
    request_id_mismatch: ['requestId and Idempotency-Key differ', 'send only one of them'],
    invalid_payload: ['payload has neither a receiver nor init code', 'set payload.to, or payload.data'],
    invalid_quantity: ['gasLimit has more than 64 bits', 'send a smaller number'],
    invalid_time: ['not a time with its zone, as RFC 3339 has them', 'send a time such as 2030-01-01T00:00:00.000Z'],
    invalid_fees: ['gasPrice and maxFeePerGas exclude each other', 'send the one or the other'],
    invalid_authorization: ['a signed authorization needs nonce, yParity, r and s', 'send all of them, or a signer'],
    gas_limit_required: [
      'no node can estimate the gas of an authorization that is not signed yet',
      'set payload.gasLimit',
    ],
    invalid_blob: [
      'payload.blobs[0] has no field element at byte 0: 32 bytes there are a number above the order of BLS12-381',
      'put at most 31 bytes of data into each 32 bytes, after a zero',
    ],
    bad_forward_signature: ['the request does not come from a node of this deployment', 'leave the header out'],
    not_in_replacement: ['a replacement cannot have authorizations that Lockstep signs', 'create another transaction'],
    empty_batch: ['the batch has no items', 'send at least one item'],
    batch_too_large: [
      'the batch has 2500 items; the limit is 1000; nothing was stored',
      'send at most 1000 items per batch',
    ],
    idempotency_key_of_batch: ['the Idempotency-Key header can name only one request', 'give each item a requestId'],
    invalid_webhook_url: [
      'the URL of a webhook is not usable: plain http goes only to targets in webhooks.allow',
      'use https, or ask the operator to add the target',
    ],
    invalid_replay: ['a replay needs either status or since', 'send {"status":"dead"} or since'],
  },
  404: {
    route_not_found: ['this node has role worker and no API', 'send the request to a node of role api or all'],
    tx_not_found: ['no such transaction', 'check the id, or find the transaction by its requestId'],
    unknown_signer: [`no signer ${SIGNER} on chain 31337`, 'GET /api/v1/signers lists the signers'],
    unknown_chain: ['chain 1 is not configured', 'GET /api/v1/chains lists the chains'],
    webhook_not_found: [`no webhook endpoint ${ID}`, 'GET /api/v1/webhooks lists the endpoints'],
    delivery_not_found: ['the endpoint has no delivery of event 7312-4711-0', 'GET …/deliveries lists them'],
  },
  409: {
    idempotency_conflict: [
      'this requestId was used for a different request',
      'use a new requestId, or send the first body unchanged',
    ],
    not_leader: [`another node acts for ${SIGNER}`, 'send the request to the owner, or try again later'],
    already_mined: ['the transaction is in a block', 'read its receipt; only a reorg can undo it'],
    already_final: ['the transaction is CONFIRMED', 'create a new transaction'],
    being_replaced: [`the transaction ${ID} competes for its nonce`, `send it to ${ID}`],
    being_cancelled: ['a no-op competes for its nonce', 'create a new transaction'],
    being_requeued: [
      'no node takes it, and a no-op uses its nonce up so that it gets another one',
      'replace it when it is PENDING again, or cancel it',
    ],
    refused_by_nodes: [`the nodes refused it, and ${ID} is sent in its place`, `send it to ${ID}`],
    other_kind: [
      'a transaction with blobs cannot replace one without, nor the reverse',
      'cancel the transaction, and create another one',
    ],
    not_sent_yet: ['the transaction has no nonce yet', 'replace it to change its fees or its speed'],
    not_a_payload: ['a fill only consumes a nonce', 'wait until it is mined; it cannot be changed'],
    chain_behind_books: [
      'failed transactions left nonces free, and the chain waits for them: 7',
      'repeat the call with vouch=true to fill them with no-ops; dryRun=true shows them (docs/operations.md)',
    ],
    signer_held: [
      'the database lost commits, and this signer may have sent transactions that the database does not know',
      'wait until the pools are empty, or repeat the call with vouch=true if this signer has sent nothing else',
    ],
    unknown_event_id: [
      'the event log has not come to 5000741-56-0: the database was restored, or a standby without the last commits took over',
      'go on after an event from some time before, and compare the state of transactions',
    ],
    too_many_secrets: [
      '5 previous secrets sign still; the first ends in 3600 s',
      'rotate again then, or with keepOldHours 0, which ends them all at once',
    ],
    webhook_disabled: [`webhook endpoint ${ID} is disabled: the receiver answered 410`, 'enable it with PATCH first'],
  },
  413: { body_too_large: ['the body is larger than 1048576 bytes', 'send a smaller body, or raise server.bodyLimit'] },
  414: { url_too_long: ['the URL is longer than 8000 characters', 'send fewer or shorter parameters'] },
  415: {
    unsupported_media_type: [
      'the content type of the body is not supported',
      'send JSON with the header Content-Type: application/json',
    ],
  },
  422: {
    unknown_signer: [`no signer ${SIGNER} on chain 31337`, 'GET /api/v1/signers lists the signers'],
    unknown_authority: [
      `no signer ${SIGNER} on chain 31337 could sign the authorization`,
      'GET /api/v1/signers lists the signers; an authorization of another account needs its signature',
    ],
    unknown_chain: ['chain 1 is not configured', 'use one of: 31337'],
    unknown_webhook: [`no webhook endpoint ${ID}`, 'GET /api/v1/webhooks lists the endpoints'],
    metadata_too_large: [
      'metadata has 20480 bytes; the limit is 16384',
      'store it yourself and send a reference to it, or raise intake.maxMetadataBytes',
    ],
    fees_above_cap: ['maxFeePerGas is above the cap of this signer', 'send less, or leave it out'],
    payload_too_large: [
      'the payload makes a transaction of 131172 bytes or more; pools take 131072',
      'split its data over several',
    ],
    gas_limit_above_cap: [
      'payload.gasLimit 30000000 is above what a transaction of chain 31337 may have, 16777216',
      'lower it, or leave it out, and Lockstep estimates it',
    ],
    gas_limit_too_low: [
      'payload.gasLimit 102000 is below what the transaction costs before anything is executed, 221000',
      'raise it, or leave it out, and Lockstep estimates it',
    ],
  },
  429: {
    too_many_waiters: ['10000 requests already wait for a state at this node', 'try again later, or leave waitFor out'],
    too_many_replays: ['a replay of this endpoint runs, or 2 others do at this node', 'send one after the other'],
    too_many_tests: ['this endpoint is tested now, or was a moment ago', 'wait a second between tests'],
  },
  500: {
    internal_error: [
      'internal error of Lockstep; the log has it under the x-request-id of this response',
      'a submitted transaction may be stored: look it up by its requestId, or submit it again with the same requestId',
    ],
  },
  503: {
    starting: ['this node is starting: it waits for its database, or runs migrations', 'try again in a moment'],
    shutting_down: ['this node is shutting down', 'send the request again: another node answers it'],
    service_unavailable: ['not ready', 'facts.details shows which part is down'],
    database_unavailable: ['the database did not answer in time', 'try again; the same requestId is safe to repeat'],
    database_read_only: ['the database takes no writes', 'try again; the same requestId is safe to repeat'],
    commit_failed: ['the database rolled the transaction back at commit', 'try again'],
    intake_full: ['too many requests are waiting to be stored', 'try again later with the same requestId'],
    signer_unavailable: [
      `no live node has the key of ${SIGNER} on chain 31337`,
      'use another signer, or try again later',
    ],
    owner_unreachable: ['the node that acts for the signer did not answer', 'send it again with the same requestId'],
    blobs_busy: ['too many requests with blobs are being proven', 'try again later'],
    kzg_unavailable: ['the KZG library does not run here', 'send blobs to another Lockstep node'],
    signer_in_doubt: [
      'the database may have lost what this signer sent, so the transaction may have been sent',
      'send the request again: Lockstep is looking for what this signer sent',
    ],
    commits_lost: ['the database lost commits', 'try again'],
    lease_lost: ['another node took over', 'try again; the new owner will act'],
    nonce_not_known: ['too few endpoints of the chain reported the nonce of this signer', 'check GET /health/ready'],
    rpc_unavailable: ['chain 31337: no endpoint answered', 'try again; when it lasts, check its RPC endpoints'],
    rpc_malformed_answer: ['chain 31337: the answer of an endpoint cannot be read', 'try again'],
    rpc_wrong_chain: ['chain 31337: every endpoint serves another chain', 'check the RPC endpoints of this chain'],
    webhook_key_missing: [
      'this node has no key to encrypt the secret of a webhook with',
      'set webhooks.encryptionKeys, or ask another node',
    ],
    webhook_secret_unreadable: [
      `this node cannot decrypt the secret of webhook endpoint ${ID}: it has no key 5feceb66ffc86f38`,
      'add its key to webhooks.encryptionKeys, or rotate the secret with keepOldHours 0',
    ],
    too_many_streams: ['1000 streams are open at this node', 'try again later, use another node, or read pages'],
  },
};

const RETRYABLE = new Set([429, 503]);
const EXAMPLES = '#/components/examples/';
const RETRY_AFTER = {
  description: 'Seconds until the request may be sent again',
  schema: { type: 'integer', minimum: 0 },
};
const RETRYABLE_CONFLICTS = new Set(['not_leader', 'too_many_secrets']);
const DATABASE = ['database_unavailable', 'database_read_only', 'commit_failed'];
const OF_BODIES = ['malformed_json', 'too_many_values', 'body_too_large', 'unsupported_media_type'];
const OF_INPUT = ['invalid_request', 'unknown_field', 'nested_too_deeply'];

/** Adds to each operation the answers for the codes that its controller names, and for those that its path, parameters and body bring along. */
export function withProblems(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations as Record<string, Operation>).map(([method, operation]) => [
        method,
        withAnswers(path, method, operation),
      ]),
    ),
  ]);
  const answered = JSON.stringify(paths);
  const examples = Object.entries(problemExamples()).filter(([name]) => answered.includes(`${EXAMPLES}${name}"`));
  return {
    ...document,
    components: { ...document.components, examples: Object.fromEntries(examples) },
    paths: Object.fromEntries(paths) as OpenAPIObject['paths'],
  };
}

function withAnswers(path: string, method: string, { [PROBLEM_CODES]: own = [], ...operation }: Operation): object {
  const codes = new Set([...own, ...sharedCodes(path, method, operation)]);
  const answers = Object.entries(PROBLEMS).flatMap(([status, known]) => {
    const named = Object.keys(known).filter((code) => codes.has(code));
    return named.length === 0 ? [] : [[status, answerOf(Number(status), named)] as const];
  });
  return { ...operation, responses: { ...operation.responses, ...Object.fromEntries(answers) } };
}

function sharedCodes(path: string, method: string, { parameters = [], requestBody }: Operation): readonly string[] {
  const has = (place: string): boolean => parameters.some((parameter) => parameter.in === place);
  return [
    ...['internal_error', 'starting', 'shutting_down'],
    ...(path.startsWith('/api/') ? ['route_not_found', ...DATABASE] : []),
    ...(has('path') ? ['malformed_url', 'url_too_long', 'invalid_request'] : []),
    ...(has('query') ? [...OF_INPUT, 'too_many_parameters', 'url_too_long'] : []),
    ...(requestBody === undefined ? [] : OF_INPUT),
    ...(method === 'get' ? [] : OF_BODIES),
  ];
}

function answerOf(status: number, codes: readonly string[]): object {
  const schema = {
    allOf: [{ $ref: getSchemaPath(ProblemDto) }],
    properties: { status: { type: 'integer', const: status }, code: { type: 'string', enum: codes } },
  };
  const examples = codes.map((code) => [code, { $ref: `${EXAMPLES}${exampleName(status, code)}` }] as const);
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    ...(codes.some((code) => isRetryable(status, code)) ? { headers: { 'Retry-After': RETRY_AFTER } } : {}),
    content: { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } },
  };
}

/** One for each problem, by the code that answers. */
function problemExamples(): Record<string, object> {
  const all = Object.entries(PROBLEMS).flatMap(([text, known]) => {
    const status = Number(text);
    return Object.entries(known).map(([code, [detail, advice]]) => {
      const problem = { status, code, detail, advice, retryable: isRetryable(status, code) };
      return [exampleName(status, code), { summary: detail, value: problemDetails(problem, '/api/v1/tx') }] as const;
    });
  });
  return Object.fromEntries(all);
}

function exampleName(status: number, code: string): string {
  return `${code}_${status}`;
}

function isRetryable(status: number, code: string): boolean {
  return RETRYABLE.has(status) || RETRYABLE_CONFLICTS.has(code);
}

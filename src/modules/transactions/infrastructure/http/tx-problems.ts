import type { Problem } from '../../../../platform/http/problem-details.js';

/** The problems of the transaction API, as OpenAPI shows them. */
export const UNKNOWN_TX: Problem = {
  status: 404,
  code: 'tx_not_found',
  detail: 'no such transaction',
  advice: 'check the id, or find the transaction by its requestId',
};
export const UNKNOWN_SIGNER: Problem = {
  status: 422,
  code: 'unknown_signer',
  detail: 'no signer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8 on chain 31337',
  advice: 'GET /api/v1/signers lists the signers',
};
export const UNKNOWN_AUTHORITY: Problem = {
  status: 422,
  code: 'unknown_authority',
  detail: 'no signer 0x70997970c51812dc3a010c7d01b50e0d17dc79c8 on chain 31337 could sign the authorization',
  advice: 'GET /api/v1/signers lists the signers; an authorization of another account needs its signature',
};
export const UNKNOWN_WEBHOOK: Problem = {
  status: 422,
  code: 'unknown_webhook',
  detail: 'no webhook endpoint 019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  advice: 'GET /api/v1/webhooks lists the endpoints',
};
export const METADATA_TOO_LARGE: Problem = {
  status: 422,
  code: 'metadata_too_large',
  detail: 'metadata has 20480 bytes; the limit is 16384',
  advice: 'store it yourself and send a reference to it, or raise intake.maxMetadataBytes',
  facts: { bytes: 20480, maxBytes: 16384 },
};
export const TOO_MANY_WAITERS: Problem = {
  status: 429,
  code: 'too_many_waiters',
  detail: '10000 requests already wait for a state at this node',
  advice: 'try again later, or leave waitFor out',
  retryable: true,
  facts: { maxWaiters: 10000 },
};
export const UNKNOWN_CHAIN: Problem = {
  status: 422,
  code: 'unknown_chain',
  detail: 'chain 1 is not configured',
  advice: 'use one of the configured chains',
};
export const MISSING_CHAIN: Problem = {
  status: 400,
  code: 'missing_chain_id',
  detail: 'several chains are configured',
  advice: 'send a chainId',
};
export const CONFLICT: Problem = {
  status: 409,
  code: 'idempotency_conflict',
  detail: 'this requestId was used for a different request',
  advice: 'use a new requestId, or send the first body unchanged',
};
export const INVALID: Problem = {
  status: 400,
  code: 'invalid_request',
  detail: '1 thing is wrong with the request',
  advice: 'correct the fields named in errors',
  errors: [
    { path: 'payload.value', code: 'invalid_quantity', message: 'value must be a whole number from 0 to 2^256-1' },
  ],
};
export const UNKNOWN_FIELD: Problem = {
  status: 400,
  code: 'unknown_field',
  detail: 'the request has a field that does not exist',
  advice: 'remove the fields named in errors',
  errors: [{ path: 'payload.vlaue', code: 'unknown_field', message: 'there is no such field' }],
};
export const MISSING_REQUEST_ID: Problem = {
  status: 400,
  code: 'missing_request_id',
  detail: 'requestId is missing',
  advice: 'send a requestId that is unique per signer: a repeated request never sends twice',
};
export const MALFORMED_JSON: Problem = {
  status: 400,
  code: 'malformed_json',
  detail: 'the body is not JSON',
  advice: 'send a JSON object',
};
export const INVALID_CURSOR: Problem = {
  status: 400,
  code: 'invalid_cursor',
  detail: 'not a cursor of this API',
  advice: 'send the nextCursor of the previous page, unchanged',
};
export const TOO_LARGE: Problem = {
  status: 413,
  code: 'body_too_large',
  detail: 'the body is larger than 1048576 bytes',
  advice: 'send less',
};
export const UNAVAILABLE: Problem = {
  status: 503,
  code: 'database_unavailable',
  detail: 'the database did not answer in time or gave up the statement',
  advice: 'try again; the same requestId is safe to repeat',
  retryable: true,
};
export const INTAKE_FULL: Problem = {
  status: 503,
  code: 'intake_full',
  detail: 'too many requests are waiting to be stored',
  advice: 'try again later with the same requestId',
  retryable: true,
};
export const EMPTY_BATCH: Problem = {
  status: 400,
  code: 'empty_batch',
  detail: 'the batch has no items',
  advice: 'send at least one item',
};
export const BATCH_TOO_LARGE: Problem = {
  status: 400,
  code: 'batch_too_large',
  detail: 'the batch has 2500 items; the limit is 1000; nothing was stored',
  advice: 'send at most 1000 items per batch',
  facts: { items: 2500, maxItems: 1000 },
};
export const INVALID_BATCH: Problem = {
  ...INVALID,
  detail: 'items is missing',
  errors: [{ path: 'items', code: 'missing_field', message: 'items is missing' }],
};
export const ALLOCATE_IN_BATCH: Problem = {
  status: 400,
  code: 'allocate_in_batch',
  detail: 'a batch does not wait for nonces, so allocate cannot be "now"',
  advice: 'leave allocate out, or send this item to POST /api/v1/tx',
};
export const BLOBS_IN_BATCH: Problem = {
  status: 400,
  code: 'blobs_in_batch',
  detail: 'a batch takes no blobs',
  advice: 'send this item to POST /api/v1/tx',
};
export const INVALID_BLOB: Problem = {
  status: 400,
  code: 'invalid_blob',
  detail: 'payload.blobs[0] has no field element at byte 0: 32 bytes there are a number above the order of BLS12-381',
  advice: 'put at most 31 bytes of data into each 32 bytes, after a zero',
  facts: { blob: 0, byte: 0 },
};
export const BLOBS_BUSY: Problem = {
  status: 503,
  code: 'blobs_busy',
  detail: 'too many requests with blobs are being proven',
  advice: 'try again later',
  retryable: true,
};
export const KEY_OF_BATCH: Problem = {
  status: 400,
  code: 'idempotency_key_of_batch',
  detail: 'the Idempotency-Key header can name only one request; nothing was stored',
  advice: 'leave the header out, and give each item a requestId',
};
export const NOT_LEADER: Problem = {
  status: 409,
  code: 'not_leader',
  detail: 'another node acts for 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  advice: 'send the request to the owner, or try again later',
  retryable: true,
  facts: { ownerNodeId: 'pod-2-9b1d00ff', ownerUrl: 'http://10.0.0.8:3000' },
};
export const OWNER_UNREACHABLE: Problem = {
  status: 503,
  code: 'owner_unreachable',
  detail: 'the node that acts for the signer did not answer',
  advice: 'send it again with the same requestId',
  retryable: true,
};

import type { Problem } from '../../../../platform/http/problem-details.js';

/** The problems of the webhook API, as OpenAPI shows them. */
export const UNKNOWN_WEBHOOK: Problem = {
  status: 404,
  code: 'webhook_not_found',
  detail: 'no webhook endpoint 019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  advice: 'GET /api/v1/webhooks lists the endpoints',
};
export const INVALID_URL: Problem = {
  status: 400,
  code: 'invalid_webhook_url',
  detail: 'the URL of a webhook is not usable: plain http goes only to targets in webhooks.allow',
  advice: 'use https, or ask the operator to add the target',
};
export const INVALID: Problem = {
  status: 400,
  code: 'invalid_request',
  detail: '1 thing is wrong with the request',
  advice: 'correct the fields named in errors',
  errors: [{ path: 'url', code: 'missing_field', message: 'url is missing' }],
};
export const INVALID_CURSOR: Problem = {
  status: 400,
  code: 'invalid_cursor',
  detail: 'not a cursor of this API',
  advice: 'send the nextCursor of the previous page, unchanged',
};
export const UNAVAILABLE: Problem = {
  status: 503,
  code: 'database_unavailable',
  detail: 'the database did not answer in time',
  advice: 'try again',
  retryable: true,
};
export const UNKNOWN_DELIVERY: Problem = {
  status: 404,
  code: 'delivery_not_found',
  detail: 'the endpoint has no delivery of event 7312-4711-0',
  advice:
    'GET …/deliveries lists them; deliveries that ended are deleted after webhooks.keepDelivered and webhooks.keepDead',
};
export const DISABLED: Problem = {
  status: 409,
  code: 'webhook_disabled',
  detail: 'webhook endpoint 019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b is disabled: the receiver answered 410',
  advice: 'enable it with PATCH first',
  facts: { reason: 'the receiver answered 410' },
};
export const INVALID_REPLAY: Problem = {
  status: 400,
  code: 'invalid_replay',
  detail: 'a replay needs either status or since',
  advice: 'send {"status":"dead"} or since',
};

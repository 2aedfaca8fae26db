import { classifyNodeError, type ErrorPattern } from '../../domain/node-error-table.js';
import type { RpcFailure, RpcReply } from './json-rpc.js';

/** The first reply that shows a failure of the endpoint itself, which includes a rate limit; null when there is none. Silence about one call is not. */
export function endpointFailure(
  method: string,
  replies: readonly RpcReply[],
  errorPatterns: readonly ErrorPattern[],
): RpcFailure | null {
  for (const reply of replies) {
    if (isOfCall(reply)) continue;
    if (reply.kind === 'failed') return asRateLimit(method, reply.failure);
    if (reply.kind === 'error' && isRateLimit(method, reply, errorPatterns))
      return { reason: 'rate_limited', mayHaveArrived: true, message: reply.error.message };
  }
  return null;
}

/** The endpoint answers other calls. */
export function isOfCall(reply: RpcReply): boolean {
  return reply.kind === 'failed' && (reply.failure.reason === 'call_silent' || reply.failure.reason === 'batch_silent');
}

function isRateLimit(
  method: string,
  { error }: RpcReply & { kind: 'error' },
  extraPatterns: readonly ErrorPattern[],
): boolean {
  return classifyNodeError({ method, ...error, extraPatterns }) === 'rate_limited';
}

/** Some endpoints answer a whole batch with one error object that names the limit. */
function asRateLimit(method: string, failure: RpcFailure): RpcFailure {
  const isLimit =
    failure.reason === 'malformed' && classifyNodeError({ method, message: failure.message }) === 'rate_limited';
  return isLimit ? { ...failure, reason: 'rate_limited' } : failure;
}

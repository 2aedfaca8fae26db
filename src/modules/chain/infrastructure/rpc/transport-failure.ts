import { codeOf } from '../../../../kernel/error-code.js';
import { messageOf } from '../../../../kernel/errors.js';
import { retryAfterMs } from '../../../../platform/http/retry-after.js';
import { CLOSED } from './http-post.js';
import { isRecord, type RpcFailure } from './json-rpc.js';

/** Thrown before the connection exists, so before a byte of the request was sent. */
const NEVER_LEFT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', CLOSED]);
/** The longest Retry-After that is used; a longer one is cut to this. */
const MAX_RETRY_AFTER_MS = 300_000;

/** Converts an error of the transport. Unless the error proves the contrary, the request may have arrived. */
export function transportFailure(error: unknown): RpcFailure {
  const code = codeOf(error);
  // Compared by name, not by class: such errors come from Node itself and from more than one copy of its classes.
  const name = isRecord(error) ? error['name'] : undefined;
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'UND_ERR_ABORTED') {
    return { reason: 'timeout', mayHaveArrived: true, message: 'request timeout' };
  }
  const message = [code, messageOf(error)].filter((part) => part !== '').join(' ');
  if (NEVER_LEFT.has(code)) return { reason: 'unreachable', mayHaveArrived: false, message };
  return { reason: 'connection', mayHaveArrived: true, message };
}

/** Converts an HTTP status without a JSON-RPC answer. `excerpt` is the start of the body, for the log. */
export function httpFailure(
  status: number,
  retryAfter: string | undefined,
  excerpt: string,
  nowMs: number,
): RpcFailure {
  const message = `HTTP ${status}${excerpt === '' ? '' : `: ${excerpt}`}`;
  const wait = retryAfterMs(retryAfter, nowMs, MAX_RETRY_AFTER_MS);
  return {
    reason: status === 429 ? 'rate_limited' : 'http',
    mayHaveArrived: true,
    message,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

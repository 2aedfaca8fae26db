import { classifyNodeError } from '../../domain/node-error-table.js';
import type { RpcFailure, RpcReply } from './json-rpc.js';

/** A node or a proxy says that it stopped before the end. */
const ABOUT_TIME = /tim(e|ed)[ -]?out|deadline exceeded|took too long|context cancell?ed/i;
const OF_ANOTHER_KIND: ReadonlySet<RpcFailure['reason']> = new Set(['call_silent', 'rate_limited', 'connection']);

/**
 * Whether a call had no answer, although it was sent: perhaps because of another call in its batch. A rate limit is an answer. A lost
 * connection is none of a call: another node, of another chain even, may answer at the URL next.
 */
export function isSilence(reply: RpcReply | undefined): boolean {
  if (reply?.kind === 'error') return wasTooSlow(reply);
  if (reply?.kind !== 'failed') return false;
  const { reason, mayHaveArrived, retryAfterMs } = reply.failure;
  if (!mayHaveArrived || OF_ANOTHER_KIND.has(reason) || retryAfterMs !== undefined) return false;
  return !isRateLimit(reply);
}

/** The endpoint refused the call for the rate of requests, by HTTP 429 or in words. */
export function isRateLimit(reply: RpcReply): boolean {
  if (reply.kind === 'error') return classifyNodeError({ method: '', ...reply.error }) === 'rate_limited';
  if (reply.kind !== 'failed') return false;
  const { reason, message } = reply.failure;
  return reason === 'rate_limited' || classifyNodeError({ method: '', message }) === 'rate_limited';
}

/** The call, or its batch, took longer than someone waits. A contract may revert with the same words. */
export function wasTooSlow(reply: RpcReply | undefined): boolean {
  if (reply?.kind === 'failed') return reply.failure.reason === 'timeout' || ABOUT_TIME.test(reply.failure.message);
  if (reply?.kind !== 'error') return false;
  return ABOUT_TIME.test(reply.error.message) && classifyNodeError({ method: '', ...reply.error }) === 'transient';
}

/** geth, reth: the answers to the calls before it were all that one answer may hold. */
const CUT = /response (is )?too (large|big)|ResponseBodySize .*exceeded/i;

/** Whether a call in a batch was left out because the answer grew too large: alone, or in a smaller batch, it is answered. */
export function isCut(reply: RpcReply | undefined): boolean {
  return reply?.kind === 'error' && CUT.test(reply.error.message);
}

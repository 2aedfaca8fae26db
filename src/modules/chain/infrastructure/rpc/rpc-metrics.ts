import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Metrics } from '../../../../platform/metrics/metrics.js';
import type { RpcReply, RpcRequest } from './json-rpc.js';

/** Counts the replies of one endpoint, in the order of the requests; the time of the round trip counts for the first method. */
export function countAsked(
  metrics: Metrics,
  chain: ChainId,
  requests: readonly RpcRequest[],
  replies: readonly RpcReply[],
  milliseconds: number,
): void {
  for (const [index, reply] of replies.entries())
    metrics.count('rpc_requests_total', 1, { chain, method: methodOf(requests[index]), result: resultOf(reply) });
  metrics.observe('rpc_seconds', milliseconds / 1000, { chain, method: methodOf(requests[0]) });
}

export function methodOf(request: RpcRequest | undefined): string {
  return request?.method ?? 'none';
}

function resultOf(reply: RpcReply): string {
  switch (reply.kind) {
    case 'result':
      return 'ok';
    case 'error':
      return 'error';
    case 'failed':
      return reply.failure.reason;
  }
}

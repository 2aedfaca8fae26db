import { Counter, Histogram, type Registry } from 'prom-client';
import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import type { RpcReply, RpcRequest } from './json-rpc.js';

/** Seconds; the last buckets are for time-outs. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts every call, also each call of a batch, and measures the round trips. */
export class RpcMetrics {
  private readonly requests: Counter<'chain' | 'method' | 'result'>;
  private readonly errors: Counter<'chain' | 'method' | 'class'>;
  private readonly seconds: Histogram<'chain' | 'method'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({
      name: 'rpc_requests_total',
      help: 'JSON-RPC calls, by result: ok, error (the node answered an error), or why there was no answer',
      labelNames: ['chain', 'method', 'result'],
      registers,
    });
    this.errors = new Counter({
      name: 'rpc_node_errors_total',
      help: 'Errors that nodes answered to sends and simulations, by class; "unknown" needs a row in the table',
      labelNames: ['chain', 'method', 'class'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'rpc_seconds',
      help: 'Time until an endpoint answered or failed',
      labelNames: ['chain', 'method'],
      buckets: BUCKETS,
      registers,
    });
  }

  /** Records the replies of one endpoint, in the order of the requests; the time counts for the first method. */
  asked(chainId: number, requests: readonly RpcRequest[], replies: readonly RpcReply[], milliseconds: number): void {
    const chain = String(chainId);
    for (const [index, reply] of replies.entries())
      this.requests.inc({ chain, method: methodOf(requests[index]), result: resultOf(reply) });
    this.seconds.observe({ chain, method: methodOf(requests[0]) }, milliseconds / 1000);
  }

  classified(chainId: number, method: string, errorClass: NodeErrorClass): void {
    this.errors.inc({ chain: String(chainId), method, class: errorClass });
  }
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

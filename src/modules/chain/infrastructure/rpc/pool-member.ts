import type { Clock } from '../../../../kernel/clock.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Log } from '../../../../platform/logging/log.js';
import type { Metrics } from '../../../../platform/metrics/metrics.js';
import type { EndpointStatus } from '../../domain/endpoint-status.js';
import type { ErrorPattern } from '../../domain/node-error-table.js';
import { endpointFailure, isOfCall } from './endpoint-failure.js';
import { EndpointHealth } from './endpoint-health.js';
import type { RpcFailure, RpcReply, RpcRequest } from './json-rpc.js';
import { MalformedAnswer, smallNumber } from '../parse-answer.js';
import type { RpcEndpoint } from './rpc-endpoint.js';
import { countAsked, methodOf } from './rpc-metrics.js';

/** The properties that all endpoints of one chain share. */
export interface MemberContext {
  readonly chainId: ChainId;
  readonly errorPatterns: readonly ErrorPattern[];
  /** Blocks an endpoint may be behind the best head. */
  readonly maxLag: number;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

type Order = 'concurrent' | 'in order';

/** One endpoint of a pool. It records its health from its answers, and verifies its chain id before it is used. */
export class PoolMember {
  readonly health: EndpointHealth;
  private verification: Promise<boolean> | null = null;
  private sends = 0;

  constructor(
    private readonly endpoint: RpcEndpoint,
    private readonly context: MemberContext,
  ) {
    this.health = new EndpointHealth(context.maxLag);
  }

  status(): EndpointStatus {
    const { chainId, clock } = this.context;
    return { chainId, endpoint: this.endpoint.label, ...this.health.status(clock.monotonicMs()) };
  }

  /** Sends requests of one method. */
  async ask(requests: readonly RpcRequest[], order: Order = 'concurrent'): Promise<RpcReply[]> {
    const { replies, milliseconds, failure } = await this.exchange(requests, order);
    if (failure === null) this.health.answered(replies.some(isOfCall) ? null : milliseconds);
    const { label } = this.endpoint;
    return replies.map((reply) => (reply.kind === 'result' ? { ...reply, endpoint: label } : reply));
  }

  /** Like {@link ask}, and the node receives the requests in this order. */
  async send(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    this.sends += 1;
    try {
      return await this.ask(requests, 'in order');
    } finally {
      this.sends -= 1;
    }
  }

  /** An earlier send has no answer yet. */
  get isSending(): boolean {
    return this.sends > 0;
  }

  /**
   * The number of its newest block; null without a valid answer. An answer does not end a back-off: an endpoint that fails other
   * requests may still answer this one.
   */
  async blockNumber(): Promise<number | null> {
    const { replies } = await this.exchange([{ method: 'eth_blockNumber', params: [] }], 'concurrent');
    const [reply] = replies;
    try {
      return reply?.kind === 'result' ? smallNumber(reply.value, 'head') : null;
    } catch (error) {
      if (error instanceof MalformedAnswer) return null;
      throw error;
    }
  }

  /** Whether it serves the right chain. Concurrent callers share one request; after a lost connection it is asked again. */
  async isVerified(): Promise<boolean> {
    if (this.health.verified) return true;
    this.verification ??= this.verify().finally(() => (this.verification = null));
    return this.verification;
  }

  /** Drops open connections; requests in flight fail. */
  async close(): Promise<void> {
    await this.endpoint.close();
  }

  private async verify(): Promise<boolean> {
    const { chainId, clock, log } = this.context;
    // An answer does not end a back-off, either.
    const { replies } = await this.exchange([{ method: 'eth_chainId', params: [] }], 'concurrent');
    const [reply] = replies;
    if (reply?.kind === 'failed') return false;
    const value = reply?.kind === 'result' ? reply.value : undefined;
    const reported = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN;
    if (!Number.isSafeInteger(reported)) {
      this.health.failed({ reason: 'malformed', message: 'no valid answer to eth_chainId' }, clock.monotonicMs());
      return false;
    }
    if (reported === chainId) {
      this.health.isOnChain();
      return true;
    }
    this.health.isOnOtherChain(reported, clock.monotonicMs());
    log.error('rpc endpoint serves another chain and is not used', {
      chainId,
      endpoint: this.endpoint.label,
      reported,
    });
    return false;
  }

  private async exchange(
    requests: readonly RpcRequest[],
    order: Order,
  ): Promise<{ replies: RpcReply[]; milliseconds: number; failure: RpcFailure | null }> {
    const { chainId, clock, metrics, log } = this.context;
    const start = clock.monotonicMs();
    const replies = await (order === 'in order' ? this.endpoint.askInOrder(requests) : this.endpoint.ask(requests));
    const end = clock.monotonicMs();
    const method = methodOf(requests[0]);
    countAsked(metrics, chainId, requests, replies, end - start);
    const failure = endpointFailure(method, replies, this.context.errorPatterns);
    if (failure !== null) {
      const isNew = this.health.availableAt <= end;
      this.health.failed(failure, end);
      const { reason, message: error } = failure;
      // Sends go to an endpoint in back-off, too: its further failures are logged at debug only.
      log[isNew ? 'warn' : 'debug']('rpc endpoint failed', {
        chainId,
        endpoint: this.endpoint.label,
        method,
        reason,
        error,
      });
    }
    return { replies, milliseconds: end - start, failure };
  }
}

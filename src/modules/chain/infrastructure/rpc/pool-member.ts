import type { Clock } from '../../../../kernel/clock.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Log } from '../../../../platform/logging/log.js';
import type { EndpointStatus } from '../../domain/endpoint-status.js';
import { classifyNodeError, type ErrorPattern } from '../../domain/node-error-table.js';
import { EndpointHealth } from './endpoint-health.js';
import type { RpcFailure, RpcReply, RpcRequest } from './json-rpc.js';
import { MalformedAnswer, smallNumber } from '../parse-answer.js';
import type { RpcEndpoint } from './rpc-endpoint.js';
import { methodOf, type RpcMetrics } from './rpc-metrics.js';

/** What the endpoints of one chain share. */
export interface MemberContext {
  readonly chainId: ChainId;
  readonly errorPatterns: readonly ErrorPattern[];
  /** Blocks an endpoint may be behind the best head. */
  readonly maxLag: number;
  readonly metrics: RpcMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

type Order = 'side by side' | 'in order';

/** One endpoint of a pool: its health is what its answers say about it, and it is used only on the right chain. */
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

  /** All of one method. */
  async ask(requests: readonly RpcRequest[], order: Order = 'side by side'): Promise<RpcReply[]> {
    const { replies, milliseconds, failure } = await this.exchange(requests, order);
    if (failure === null) this.health.answered(milliseconds);
    return replies;
  }

  /** As {@link ask}, in this order. */
  async send(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    this.sends += 1;
    try {
      return await this.ask(requests, 'in order');
    } finally {
      this.sends -= 1;
    }
  }

  /** Has yet to answer an earlier send. */
  get isSending(): boolean {
    return this.sends > 0;
  }

  /**
   * The number of its newest block; null when it cannot say. An answer is no proof of health: what fails at real work may
   * still answer this.
   */
  async blockNumber(): Promise<number | null> {
    const { replies } = await this.exchange([{ method: 'eth_blockNumber', params: [] }], 'side by side');
    const [reply] = replies;
    try {
      return reply?.kind === 'result' ? smallNumber(reply.value, 'head') : null;
    } catch (error) {
      if (error instanceof MalformedAnswer) return null;
      throw error;
    }
  }

  /** Whether it serves the right chain; asked once, however many want to know, and again when it was away. */
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
    // No proof of health, either: it does not end a back-off.
    const { replies } = await this.exchange([{ method: 'eth_chainId', params: [] }], 'side by side');
    const [reply] = replies;
    if (reply?.kind === 'failed') return false;
    const reported = reply?.kind === 'result' && typeof reply.value === 'string' ? Number(reply.value) : NaN;
    if (!Number.isSafeInteger(reported)) {
      this.health.failed({ reason: 'malformed', message: 'does not tell its chain id' }, clock.monotonicMs());
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
    metrics.asked(chainId, requests, replies, end - start);
    const failure = this.failureIn(method, replies);
    if (failure !== null) {
      const isNews = this.health.availableAt <= end;
      this.health.failed(failure, end);
      const { reason, message: error } = failure;
      // Sends go to an endpoint in back-off, too: that it still fails is no news.
      log[isNews ? 'warn' : 'debug']('rpc endpoint failed', {
        chainId,
        endpoint: this.endpoint.label,
        method,
        reason,
        error,
      });
    }
    return { replies, milliseconds: end - start, failure };
  }

  /** What speaks against the endpoint itself, if anything. */
  private failureIn(method: string, replies: readonly RpcReply[]): RpcFailure | null {
    for (const reply of replies) {
      if (reply.kind === 'failed') return asRateLimit(method, reply.failure);
      if (reply.kind === 'error' && this.isRateLimit(method, reply)) {
        return { reason: 'rate_limited', mayHaveArrived: true, message: reply.error.message };
      }
    }
    return null;
  }

  private isRateLimit(method: string, { error }: RpcReply & { kind: 'error' }): boolean {
    return classifyNodeError({ method, ...error, extraPatterns: this.context.errorPatterns }) === 'rate_limited';
  }
}

/** Some say it with one error object for a whole batch. */
function asRateLimit(method: string, failure: RpcFailure): RpcFailure {
  const isLimit =
    failure.reason === 'malformed' && classifyNodeError({ method, message: failure.message }) === 'rate_limited';
  return isLimit ? { ...failure, reason: 'rate_limited' } : failure;
}

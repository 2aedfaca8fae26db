import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock } from '../../kernel/clock.js';
import { AccountLimits } from './account-limits.js';
import { UNKNOWN_END_SECONDS } from './rate-limited.js';
import { leftText, policyText } from './quota-text.js';
import { ServingNodes } from './serving-nodes.js';
import { type Rate, TokenBuckets } from './token-buckets.js';

export interface Weight {
  /** Each item of a batch is one. */
  readonly requests: number;
  /** Of the body. */
  readonly bytes: number;
  /** Whether the answer is a stream, or waits for something. */
  readonly isLong: boolean;
}

type Reply = Pick<FastifyReply, 'header' | 'raw'>;

interface Use {
  readonly limit: 'requests' | 'bytes';
  readonly buckets: TokenBuckets;
  readonly cost: number;
  /** At all nodes. */
  readonly perSecond: number;
  /** The share of this node. */
  readonly rate: Rate;
}

/** What an account may send to this node: the node's share of what it may send to all. In memory only. */
@Injectable()
export class RequestLimits {
  private readonly requests = new TokenBuckets();
  private readonly bytes = new TokenBuckets();
  /** Streams and long polls that are open, by account. */
  private readonly open = new Map<string, number>();
  /** The header, by the limits that it tells. */
  private readonly policies = new WeakMap<object, string>();

  constructor(
    private readonly limits: AccountLimits,
    private readonly nodes: ServingNodes,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts a request of an account, and says in the headers of its answer what is left.
   * @throws RateLimited
   */
  admit(account: string, { requests, bytes, isLong }: Weight, reply: Reply): void {
    const { requestsPerSecond, bytesPerSecond, streams } = this.limits.of(account);
    const used: Use[] = [];
    if (requestsPerSecond !== Infinity) used.push(this.use('requests', this.requests, requests, requestsPerSecond));
    if (bytesPerSecond !== Infinity) used.push(this.use('bytes', this.bytes, bytes, bytesPerSecond));
    if (used.length > 0) this.take(account, used, reply);
    if (isLong) this.enter(account, streams, reply);
  }

  private use(limit: Use['limit'], buckets: TokenBuckets, cost: number, perSecond: number): Use {
    return { limit, buckets, cost, perSecond, rate: this.nodes.rateOf(perSecond) };
  }

  private take(account: string, used: readonly Use[], reply: Reply): void {
    const nowMs = this.clock.monotonicMs();
    const waits = used.map(({ limit, buckets, cost, rate }) => {
      return { limit, seconds: cost > 0 ? buckets.secondsUntilOne(account, rate, nowMs) : 0 };
    });
    const short = waits.find(({ seconds }) => seconds > 0);
    let left = '';
    for (const { limit, buckets, cost, rate } of used) {
      const tokens = short ? buckets.tokens(account, rate, nowMs) : buckets.take(account, cost, rate, nowMs);
      left += `${left === '' ? '' : ', '}${leftText(limit, tokens, rate)}`;
    }
    void reply.header('ratelimit-policy', this.policyOf(account, used)).header('ratelimit', left);
    if (short) throw this.limits.refusal(short.limit, short.seconds);
  }

  private policyOf(account: string, used: readonly Use[]): string {
    const limits = this.limits.of(account);
    const known = this.policies.get(limits) ?? used.map(policyText).join(', ');
    this.policies.set(limits, known);
    return known;
  }

  private enter(account: string, limit: number, { raw }: Reply): void {
    if (raw.destroyed) return;
    const open = this.open.get(account) ?? 0;
    if (open >= this.nodes.shareOf(limit)) throw this.limits.refusal('streams', UNKNOWN_END_SECONDS);
    this.open.set(account, open + 1);
    raw.once('close', () => this.leave(account));
  }

  private leave(account: string): void {
    const open = (this.open.get(account) ?? 0) - 1;
    if (open > 0) this.open.set(account, open);
    else this.open.delete(account);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { assertOutsideTransaction } from '../../../platform/database/transaction-scope.js';
import type { Log } from '../../../platform/logging/log.js';
import type { EndpointStatus } from '../domain/endpoint-status.js';
import type { NodeErrorClass } from '../domain/node-error-class.js';
import { classifyNodeError, type ErrorPattern } from '../domain/node-error-table.js';
import { EndpointHealth } from './endpoint-health.js';
import type { JsonRpcEndpoint } from './json-rpc-endpoint.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './json-rpc.js';
import type { RpcMetrics } from './rpc-metrics.js';

export interface RpcPoolOptions {
  readonly chainId: ChainId;
  /** In order of preference. */
  readonly endpoints: readonly JsonRpcEndpoint[];
  readonly errorPatterns: readonly ErrorPattern[];
  /** Longest wait for an endpoint that asked us to stay away, when there is no other. Milliseconds. */
  readonly maxWaitMs: number;
}

interface Member {
  readonly endpoint: JsonRpcEndpoint;
  readonly health: EndpointHealth;
  verification: Promise<boolean> | null;
}

/** Errors about the endpoint, not about the question: another one may know better. */
const ANOTHER_MAY_KNOW: ReadonlySet<NodeErrorClass> = new Set([
  'rate_limited',
  'transient',
  'ambiguous_internal',
  'method_unsupported',
]);

/** The endpoints of one chain: reads go to the healthiest and fail over, sends go to all. */
export class RpcPool {
  private readonly members: readonly Member[];

  constructor(
    private readonly options: RpcPoolOptions,
    private readonly metrics: RpcMetrics,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    this.members = options.endpoints.map((endpoint) => ({
      endpoint,
      health: new EndpointHealth(),
      verification: null,
    }));
  }

  /** All of one method. What one endpoint did not answer is asked of the next; the last reply stands. */
  async read(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    this.assertMayCall(requests);
    const items = requests.map((request) => new Item(request));
    const candidates = await this.candidates();
    // A keep-alive connection that the server closed under us is no reason to give up on the only endpoint.
    const [only] = candidates;
    const rounds = only !== undefined && candidates.length === 1 ? [only, only] : candidates;
    for (const [round, member] of rounds.entries()) {
      const open = items.filter((item) => item.open);
      if (open.length === 0) break;
      if (only === member && round > 0 && !open.some(({ reply }) => reply !== null && isReset(reply))) break;
      if (!(await this.isVerified(member))) continue;
      const replies = await this.ask(
        member,
        open.map(({ request }) => request),
        'side by side',
      );
      for (const [i, item] of open.entries()) {
        const reply = replies[i] ?? item.reply;
        item.reply = reply;
        item.open = reply === null || this.anotherMayKnow(item.request.method, reply);
      }
    }
    return items.map(({ reply }) => reply ?? failed(this.nobody()));
  }

  /**
   * To every usable endpoint, in the order given; one promise per endpoint, so that the caller need not wait for the
   * slowest. Empty when there is none.
   */
  async sendToAll(requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> {
    this.assertMayCall(requests);
    return (await this.candidates()).map(async (member) => {
      if (await this.isVerified(member)) return this.ask(member, requests, 'in order');
      return requests.map(() => failed(this.nobody()));
    });
  }

  status(): EndpointStatus[] {
    const now = this.clock.monotonicMs();
    return this.members.map(({ endpoint, health }) => ({
      chainId: this.options.chainId,
      endpoint: endpoint.label,
      ...health.status(now),
    }));
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map(({ endpoint }) => endpoint.close()));
  }

  /** Best first. When all are out, the one that is back soonest: waited for if it asked for that, tried anyway if not. */
  private async candidates(): Promise<Member[]> {
    const now = this.clock.monotonicMs();
    const members = this.members.filter(({ health }) => health.isCandidate(now));
    const ready = members.filter(({ health }) => health.availableAt <= now);
    if (ready.length > 0) return ready.sort((a, b) => a.health.penalty - b.health.penalty);
    const [soonest] = members.sort((a, b) => a.health.availableAt - b.health.availableAt);
    if (soonest === undefined) return [];
    const wait = soonest.health.mustWait ? soonest.health.availableAt - now : 0;
    if (wait > this.options.maxWaitMs) return [];
    if (wait > 0) await sleep(wait);
    return [soonest];
  }

  private async isVerified(member: Member): Promise<boolean> {
    if (member.health.verified) return true;
    member.verification ??= this.verify(member).finally(() => (member.verification = null));
    return member.verification;
  }

  private async verify({ endpoint, health }: Member): Promise<boolean> {
    const { chainId } = this.options;
    const [reply] = await this.ask({ endpoint, health }, [{ method: 'eth_chainId', params: [] }], 'side by side');
    if (reply?.kind === 'failed') return false;
    const reported = reply?.kind === 'result' && typeof reply.value === 'string' ? Number(reply.value) : NaN;
    if (!Number.isSafeInteger(reported)) {
      health.failed({ reason: 'malformed', message: 'does not tell its chain id' }, this.clock.monotonicMs());
      return false;
    }
    if (reported === chainId) {
      health.isOnChain();
      return true;
    }
    health.isOnOtherChain(reported, this.clock.monotonicMs());
    this.log.error('rpc endpoint serves another chain and is not used', {
      chainId,
      endpoint: endpoint.label,
      reported,
    });
    return false;
  }

  private async ask(
    { endpoint, health }: Pick<Member, 'endpoint' | 'health'>,
    requests: readonly RpcRequest[],
    order: 'side by side' | 'in order',
  ): Promise<RpcReply[]> {
    const start = this.clock.monotonicMs();
    const replies = await (order === 'in order' ? endpoint.askInOrder(requests) : endpoint.ask(requests));
    const end = this.clock.monotonicMs();
    const method = requests[0]?.method ?? 'none';
    this.metrics.asked(this.options.chainId, method, replies, end - start);
    const failure = this.failureIn(method, replies);
    if (failure === null) health.answered(end - start);
    else {
      health.failed(failure, end);
      const { chainId } = this.options;
      this.log.warn('rpc endpoint failed', {
        chainId,
        endpoint: endpoint.label,
        method,
        reason: failure.reason,
        error: failure.message,
      });
    }
    return replies;
  }

  /** What speaks against the endpoint itself, if anything. */
  private failureIn(method: string, replies: readonly RpcReply[]): RpcFailure | null {
    for (const reply of replies) {
      if (reply.kind === 'failed') return this.asRateLimit(method, reply.failure);
      if (reply.kind === 'error' && this.classOf(method, reply) === 'rate_limited') {
        return { reason: 'rate_limited', mayHaveArrived: true, message: reply.error.message };
      }
    }
    return null;
  }

  /** Some say it with one error object for a whole batch. */
  private asRateLimit(method: string, failure: RpcFailure): RpcFailure {
    const isLimit =
      failure.reason === 'malformed' && classifyNodeError({ method, message: failure.message }) === 'rate_limited';
    return isLimit ? { ...failure, reason: 'rate_limited' } : failure;
  }

  private anotherMayKnow(method: string, reply: RpcReply): boolean {
    if (reply.kind === 'error') return ANOTHER_MAY_KNOW.has(this.classOf(method, reply));
    return reply.kind === 'failed';
  }

  private classOf(method: string, reply: RpcReply & { kind: 'error' }): NodeErrorClass {
    return classifyNodeError({ method, ...reply.error, extraPatterns: this.options.errorPatterns });
  }

  private nobody(): RpcFailure {
    const words = this.status().map(
      ({ endpoint, state, lastError }) => `${endpoint} ${state}${lastError === null ? '' : ` (${lastError})`}`,
    );
    return { reason: 'unreachable', mayHaveArrived: false, message: `no usable endpoint: ${words.join(', ')}` };
  }

  private assertMayCall(requests: readonly RpcRequest[]): void {
    assertOutsideTransaction(requests[0]?.method ?? 'an RPC call');
  }
}

/** One question on its way through the endpoints. */
class Item {
  reply: RpcReply | null = null;
  open = true;

  constructor(readonly request: RpcRequest) {}
}

function isReset(reply: RpcReply): boolean {
  return reply.kind === 'failed' && reply.failure.reason === 'connection';
}

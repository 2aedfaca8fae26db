import type { Clock } from '../../../../kernel/clock.js';
import { type Pause, realPause } from '../../../../platform/scheduling/pause.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import type { Log } from '../../../../platform/logging/log.js';
import { type Decision, EVIDENCE } from '../../domain/evidence.js';
import type { EndpointStatus } from '../../domain/endpoint-status.js';
import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError, type ErrorPattern } from '../../domain/node-error-table.js';
import { HeadComparison } from './head-comparison.js';
import { Hearing, type EndpointAnswer } from './hearing.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './json-rpc.js';
import { PoolMember } from './pool-member.js';
import type { RpcEndpoint } from './rpc-endpoint.js';
import type { RpcMetrics } from './rpc-metrics.js';
import { Sending } from '../sending.js';

export interface RpcPoolOptions {
  readonly chainId: ChainId;
  /** In order of preference. */
  readonly endpoints: readonly RpcEndpoint[];
  readonly errorPatterns: readonly ErrorPattern[];
  /** Longest wait for an endpoint that asked us to stay away, when there is no other. Milliseconds. */
  readonly maxWaitMs: number;
  /** Blocks an endpoint may be behind the best head before the others are preferred. */
  readonly maxLag: number;
  /** How to wait; real time unless told. */
  readonly pause?: Pause;
}

/** Errors about the endpoint, not about the question: another one may know better. */
const ANOTHER_MAY_KNOW: ReadonlySet<NodeErrorClass> = new Set([
  'rate_limited',
  'transient',
  'ambiguous_internal',
  'method_unsupported',
]);

/** The endpoints of one chain: reads go to the healthiest that has the head and fail over, sends go to all. */
export class RpcPool {
  private readonly members: readonly PoolMember[];
  private readonly heads: HeadComparison;
  private readonly hearing: Hearing;
  private readonly sending: Sending;
  private readonly pause: Pause;

  constructor(
    private readonly options: RpcPoolOptions,
    metrics: RpcMetrics,
    private readonly clock: Clock,
    log: Log,
  ) {
    const { endpoints, pause = realPause, ...shared } = options;
    this.pause = pause;
    this.members = endpoints.map((endpoint) => new PoolMember(endpoint, { ...shared, metrics, clock, log }));
    this.hearing = new Hearing(this.members, pause);
    this.sending = new Sending(this.members, pause, () => this.nobody());
    this.heads = new HeadComparison(this.members, clock, pause, options.maxLag);
  }

  /**
   * All of one method. What one endpoint did not answer is asked of the next; the last reply stands. What was only refused for
   * the rate is asked again when the endpoint wants to be asked, for as long as a read may take: whoever reads needs several
   * answers in a row, and would get them never where nine of ten are refused.
   */
  async read(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    this.assertMayCall(requests);
    const items = requests.map((request) => new Item(request));
    const until = this.clock.monotonicMs() + this.options.maxWaitMs;
    let asked: boolean;
    do asked = await this.askAround(items);
    while (asked && this.wasRefusedForTheRate(items) && this.clock.monotonicMs() < until);
    return items.map(({ reply }) => reply ?? failed(this.nobody()));
  }

  /**
   * To every endpoint of the right chain, also to those that nobody reads from, in the order given; one promise per endpoint, so
   * that the caller need not wait for the slowest. Without replies from one of another chain; empty when there is none.
   */
  async sendToAll(requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> {
    this.assertMayCall(requests);
    const sends = this.sending.toAll(requests, this.clock.monotonicMs());
    if (sends.length > 0) return sends;
    return (await this.candidates()).map((member) => this.sending.toOne(member, requests));
  }

  /** Whether there is nobody to contradict it. */
  get hasOneEndpoint(): boolean {
    return this.members.length === 1;
  }

  /** What every endpoint of the right chain says for itself, also those that nobody reads from, by the evidence the decision needs. */
  async answers(decision: Decision, requests: readonly RpcRequest[]): Promise<EndpointAnswer[]> {
    this.assertMayCall(requests);
    if (this.hasOneEndpoint) return [{ replies: await this.read(requests), isCurrent: true }];
    await this.heads.refresh();
    return this.hearing.hear(requests, EVIDENCE[decision].witnesses, this.clock.monotonicMs());
  }

  status(): EndpointStatus[] {
    return this.members.map((member) => member.status());
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.close()));
  }

  /** @returns whether there was anybody to ask */
  private async askAround(items: readonly Item[]): Promise<boolean> {
    const candidates = await this.candidates();
    // A keep-alive connection that the server closed under us is no reason to give up on the only endpoint.
    const [only] = candidates;
    const rounds = only !== undefined && candidates.length === 1 ? [only, only] : candidates;
    for (const [round, member] of rounds.entries()) {
      const open = items.filter((item) => item.open);
      if (open.length === 0) break;
      if (only === member && round > 0 && !open.some(({ reply }) => reply !== null && isReset(reply))) break;
      if (!(await member.isVerified())) continue;
      const replies = await member.ask(open.map(({ request }) => request));
      for (const [i, item] of open.entries()) {
        const reply = replies[i] ?? item.reply;
        item.reply = reply;
        item.open = reply === null || this.anotherMayKnow(item.request.method, reply);
      }
    }
    return candidates.length > 0;
  }

  private wasRefusedForTheRate(items: readonly Item[]): boolean {
    const open = items.filter((item) => item.open);
    return open.length > 0 && open.every(({ request, reply }) => this.isRateLimit(request.method, reply));
  }

  private isRateLimit(method: string, reply: RpcReply | null): boolean {
    if (reply?.kind === 'failed') return reply.failure.reason === 'rate_limited';
    return reply?.kind === 'error' && this.classOf(method, reply) === 'rate_limited';
  }

  /** Best first. When all are out, the one that is back soonest: waited for if it asked for that, tried anyway if not. */
  private async candidates(): Promise<PoolMember[]> {
    await this.heads.refresh();
    const now = this.clock.monotonicMs();
    const members = this.members.filter(({ health }) => health.isCandidate(now));
    const ready = members.filter(({ health }) => health.availableAt <= now);
    if (ready.length > 0) return preferred(ready);
    const [soonest] = members.sort((a, b) => a.health.availableAt - b.health.availableAt);
    if (soonest === undefined) return [];
    const wait = soonest.health.mustWait ? soonest.health.availableAt - now : 0;
    if (wait > this.options.maxWaitMs) return [];
    if (wait > 0) await this.pause(wait);
    return [soonest];
  }

  private anotherMayKnow(method: string, reply: RpcReply): boolean {
    if (reply.kind !== 'error') return reply.kind === 'failed';
    return ANOTHER_MAY_KNOW.has(this.classOf(method, reply));
  }

  private classOf(method: string, { error }: RpcReply & { kind: 'error' }): NodeErrorClass {
    return classifyNodeError({ method, ...error, extraPatterns: this.options.errorPatterns });
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

/** Best first, and none that lags or is ahead as long as one is known to be well that does not. */
function preferred(ready: readonly PoolMember[]): PoolMember[] {
  const sorted = ready.toSorted((a, b) => a.health.penalty - b.health.penalty);
  const current = sorted.filter(({ health }) => health.isCurrent);
  if (current.some(({ health }) => health.verified)) return current;
  const [behind, ahead] = [sorted.filter(({ health }) => health.lagging), sorted.filter(({ health }) => health.ahead)];
  return [...current, ...behind, ...ahead];
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

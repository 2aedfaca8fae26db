import type { Clock } from '../../../../kernel/clock.js';
import type { NodeErrorClass } from '../../../../kernel/node-error-class.js';
import { classifyNodeError, type ErrorPattern } from '../../domain/node-error-table.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './json-rpc.js';
import type { PoolMember } from './pool-member.js';

/** These errors are about the endpoint and not about the request: another endpoint may answer. */
const ANOTHER_MAY_ANSWER: ReadonlySet<NodeErrorClass> = new Set([
  'rate_limited',
  'transient',
  'ambiguous_internal',
  'method_unsupported',
]);

export interface FailoverOptions {
  readonly errorPatterns: readonly ErrorPattern[];
  /** How long a read that was only rate limited is repeated. Milliseconds. */
  readonly maxWaitMs: number;
  /** The endpoints to ask, best first. */
  readonly candidates: () => Promise<PoolMember[]>;
  /** The failure of a request that no endpoint was asked for. */
  readonly noEndpoint: () => RpcFailure;
}

/** Reads from one endpoint, and asks the next one for each request that the first one did not answer. */
export class FailoverReads {
  constructor(
    private readonly options: FailoverOptions,
    private readonly clock: Clock,
  ) {}

  /**
   * All requests are of one method; the last reply to each counts. Requests that were only rate limited are repeated until
   * `maxWaitMs`: a caller needs several answers in a row, and would never get them where nine of ten requests are rate limited.
   */
  async read(requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const items = requests.map((request) => new Item(request));
    const until = this.clock.monotonicMs() + this.options.maxWaitMs;
    let asked: boolean;
    do asked = await this.askCandidates(items);
    while (asked && this.isOnlyRateLimited(items) && this.clock.monotonicMs() < until);
    return items.map(({ reply }) => reply ?? failed(this.options.noEndpoint()));
  }

  /** @returns whether there was an endpoint to ask */
  private async askCandidates(items: readonly Item[]): Promise<boolean> {
    const candidates = await this.options.candidates();
    // The only endpoint is asked again after a closed connection: the server may have closed an idle keep-alive connection.
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
        item.open = reply === null || this.mayAnotherAnswer(item.request.method, reply);
      }
    }
    return candidates.length > 0;
  }

  private isOnlyRateLimited(items: readonly Item[]): boolean {
    const open = items.filter((item) => item.open);
    return open.length > 0 && open.every(({ request, reply }) => this.isRateLimit(request.method, reply));
  }

  private isRateLimit(method: string, reply: RpcReply | null): boolean {
    if (reply?.kind === 'failed') return reply.failure.reason === 'rate_limited';
    return reply?.kind === 'error' && this.classOf(method, reply) === 'rate_limited';
  }

  private mayAnotherAnswer(method: string, reply: RpcReply): boolean {
    if (reply.kind !== 'error') return reply.kind === 'failed';
    return ANOTHER_MAY_ANSWER.has(this.classOf(method, reply));
  }

  private classOf(method: string, { error }: RpcReply & { kind: 'error' }): NodeErrorClass {
    return classifyNodeError({ method, ...error, extraPatterns: this.options.errorPatterns });
  }
}

/** One request, and its latest reply. */
class Item {
  reply: RpcReply | null = null;
  open = true;

  constructor(readonly request: RpcRequest) {}
}

function isReset(reply: RpcReply): boolean {
  return reply.kind === 'failed' && reply.failure.reason === 'connection';
}

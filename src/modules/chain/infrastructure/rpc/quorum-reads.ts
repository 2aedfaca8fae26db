import type { Pause } from '../../../../platform/scheduling/pause.js';
import type { Quorum } from '../../domain/evidence.js';
import { firstDecided } from './first-decided.js';
import { failed, type RpcReply, type RpcRequest } from './json-rpc.js';
import type { PoolMember } from './pool-member.js';
import { withShortWait } from './short-wait.js';

/** The replies of one endpoint. When the endpoint did not answer, or serves another chain, all of them are failures. */
export interface EndpointAnswer {
  readonly replies: readonly RpcReply[];
  /** The endpoint neither lags behind the other endpoints nor is ahead of them, as far as known. */
  readonly isCurrent: boolean;
}

const NO_ANSWER = { reason: 'unreachable', mayHaveArrived: false, message: 'the endpoint did not answer' } as const;

/**
 * Asks every endpoint of the right chain, with limits on the wait: an endpoint whose last answer failed gets one read at a time, and a
 * short wait; with the quorum `half`, so do all others once half of the endpoints have answered.
 */
export class QuorumReads {
  private readonly waiting = new Set<PoolMember>();

  constructor(
    private readonly members: readonly PoolMember[],
    private readonly pause: Pause,
  ) {}

  /** @param now monotonic milliseconds */
  async read(requests: readonly RpcRequest[], quorum: Quorum, now: number): Promise<EndpointAnswer[]> {
    const noAnswer = requests.map(() => failed(NO_ANSWER));
    const repliesOf = new Map<PoolMember, readonly RpcReply[]>();
    const ask = async (member: PoolMember): Promise<readonly RpcReply[]> => {
      const replies = (await this.answerOf(member, requests, now)) ?? noAnswer;
      repliesOf.set(member, replies);
      return replies;
    };
    const asked = this.members.map((member) => ({ failedLately: member.health.failedLately, answer: ask(member) }));
    const all = asked.map(({ answer }) => answer);
    if (quorum === 'every') await Promise.all(asked.flatMap((each) => (each.failedLately ? [] : [each.answer])));
    else await firstDecided(all, (sofar) => sofar.filter(hasAnswered).length * 2 >= this.members.length);
    await withShortWait(this.pause, Promise.all(all), []);
    // With `every`, an endpoint of another chain is not counted. With `half` it counts as one that did not answer: otherwise the last
    // endpoint of the right chain would be the whole quorum.
    return this.members
      .filter(({ health }) => quorum === 'half' || !health.isOfAnotherChain)
      .map((member) => ({ replies: repliesOf.get(member) ?? noAnswer, isCurrent: member.health.isCurrent }));
  }

  /** null when the endpoint is not asked, or does not serve the right chain. */
  private async answerOf(
    member: PoolMember,
    requests: readonly RpcRequest[],
    now: number,
  ): Promise<readonly RpcReply[] | null> {
    const { health } = member;
    if (health.isOfAnotherChain || (health.mustWait && health.availableAt > now)) return null;
    if (health.failedLately && this.waiting.has(member)) return null;
    this.waiting.add(member);
    try {
      return (await member.isVerified()) ? await member.ask(requests) : null;
    } finally {
      this.waiting.delete(member);
    }
  }
}

function hasAnswered(replies: readonly RpcReply[]): boolean {
  return replies.some(({ kind }) => kind !== 'failed');
}

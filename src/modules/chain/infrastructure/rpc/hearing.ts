import type { Pause } from '../../../../platform/scheduling/pause.js';
import type { Witnesses } from '../../domain/evidence.js';
import { firstDecided } from './first-decided.js';
import { within } from './grace.js';
import { failed, type RpcReply, type RpcRequest } from './json-rpc.js';
import type { PoolMember } from './pool-member.js';

/** What one endpoint says for itself. All replies of a silent one, and of one of another chain, are failures. */
export interface EndpointAnswer {
  readonly replies: readonly RpcReply[];
  /** Neither behind nor ahead of the others, as far as known. */
  readonly isCurrent: boolean;
}

const SILENT = { reason: 'unreachable', mayHaveArrived: false, message: 'the endpoint stayed silent' } as const;

/**
 * Hears every endpoint of the right chain, and waits for none in vain: one that failed lately is asked one question at a time, and
 * waited for a second at most; where half of the endpoints suffice, so is everybody after that half has spoken.
 */
export class Hearing {
  private readonly unanswered = new Set<PoolMember>();

  constructor(
    private readonly members: readonly PoolMember[],
    private readonly pause: Pause,
  ) {}

  /** @param now monotonic milliseconds */
  async hear(requests: readonly RpcRequest[], witnesses: Witnesses, now: number): Promise<EndpointAnswer[]> {
    const silence = requests.map(() => failed(SILENT));
    const told = new Map<PoolMember, readonly RpcReply[]>();
    const tell = async (member: PoolMember): Promise<readonly RpcReply[]> => {
      const replies = (await this.answerOf(member, requests, now)) ?? silence;
      told.set(member, replies);
      return replies;
    };
    const asked = this.members.map((member) => ({ failedLately: member.health.failedLately, answer: tell(member) }));
    const all = asked.map(({ answer }) => answer);
    if (witnesses === 'every') await Promise.all(asked.flatMap((each) => (each.failedLately ? [] : [each.answer])));
    else await firstDecided(all, (sofar) => sofar.filter(hasSpoken).length * 2 >= this.members.length);
    await within(this.pause, Promise.all(all), []);
    // One of another chain has no say. Where half must speak it is one of the silent, or the last one left could speak alone for all.
    return this.members
      .filter(({ health }) => witnesses === 'speakers' || !health.isElsewhere)
      .map((member) => ({ replies: told.get(member) ?? silence, isCurrent: member.health.isCurrent }));
  }

  /** null for one that has nothing to say. */
  private async answerOf(
    member: PoolMember,
    requests: readonly RpcRequest[],
    now: number,
  ): Promise<readonly RpcReply[] | null> {
    const { health } = member;
    if (health.isElsewhere || (health.mustWait && health.availableAt > now)) return null;
    if (health.failedLately && this.unanswered.has(member)) return null;
    this.unanswered.add(member);
    try {
      return (await member.isVerified()) ? await member.ask(requests) : null;
    } finally {
      this.unanswered.delete(member);
    }
  }
}

function hasSpoken(replies: readonly RpcReply[]): boolean {
  return replies.some(({ kind }) => kind !== 'failed');
}

import type { Pause } from '../../../platform/scheduling/pause.js';
import { within } from './rpc/grace.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './rpc/json-rpc.js';
import type { PoolMember } from './rpc/pool-member.js';

const LATE = { reason: 'timeout', mayHaveArrived: true, message: 'no answer yet, after a while of failures' } as const;

/** Sends to the endpoints of one chain: to all of them, also to those that nobody reads from. */
export class Sending {
  constructor(
    private readonly members: readonly PoolMember[],
    private readonly pause: Pause,
    private readonly notVerified: () => RpcFailure,
  ) {}

  /**
   * One promise per endpoint, without replies from one that turns out to serve another chain. Empty when every endpoint asked us to
   * stay away.
   *
   * @param now monotonic milliseconds
   */
  toAll(requests: readonly RpcRequest[], now: number): Promise<RpcReply[]>[] {
    const willing = this.members.filter(
      ({ health }) => health.isCandidate(now) && !(health.mustWait && health.availableAt > now),
    );
    const isAnyReady = willing.some(({ health }) => health.availableAt <= now);
    return willing.flatMap((member) => {
      if (!isAnyReady || member.health.availableAt <= now) return [this.toOne(member, requests)];
      // One at a time for an endpoint that is most likely gone, and nobody waits for it.
      return member.isSending ? [] : [this.toOneInBackOff(member, requests)];
    });
  }

  async toOne(member: PoolMember, requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (await member.isVerified()) return member.send(requests);
    return member.health.isElsewhere ? [] : requests.map(() => failed(this.notVerified()));
  }

  private toOneInBackOff(member: PoolMember, requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const late = requests.map(() => failed(LATE));
    return within(this.pause, this.toOne(member, requests), late);
  }
}

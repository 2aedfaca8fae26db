import type { Pause } from '../../../../platform/scheduling/pause.js';
import { failed, type RpcFailure, type RpcReply, type RpcRequest } from './json-rpc.js';
import type { PoolMember } from './pool-member.js';
import { withShortWait } from './short-wait.js';

const LATE = {
  reason: 'timeout',
  mayHaveArrived: true,
  message: 'no answer yet from an endpoint in back-off',
} as const;

/** Sends requests to all endpoints of one chain, also to endpoints that are not used for reads. */
export class SendsToAll {
  constructor(
    private readonly members: readonly PoolMember[],
    private readonly pause: Pause,
    private readonly notVerified: () => RpcFailure,
  ) {}

  /**
   * One promise per endpoint; an endpoint that turns out to serve another chain gives no replies. Empty when every endpoint asked us
   * to wait.
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
      // An endpoint in back-off is probably down: it gets one send at a time, and a short wait.
      return member.isSending ? [] : [this.toOneInBackOff(member, requests)];
    });
  }

  async toOne(member: PoolMember, requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (await member.isVerified()) return member.send(requests);
    return member.health.isOfAnotherChain ? [] : requests.map(() => failed(this.notVerified()));
  }

  private toOneInBackOff(member: PoolMember, requests: readonly RpcRequest[]): Promise<RpcReply[]> {
    const late = requests.map(() => failed(LATE));
    return withShortWait(this.pause, this.toOne(member, requests), late);
  }
}

import type { Clock } from '../../../../kernel/clock.js';
import type { Pause } from '../../../../platform/scheduling/pause.js';
import type { HeadComparison } from './head-comparison.js';
import type { PoolMember } from './pool-member.js';

/** Chooses the endpoints of one chain that a read may use, best first. */
export class EndpointSelection {
  /** @param maxWaitMs longest wait for an endpoint that asked us to wait, when no other is available */
  constructor(
    private readonly members: readonly PoolMember[],
    private readonly heads: HeadComparison,
    private readonly clock: Clock,
    private readonly pause: Pause,
    private readonly maxWaitMs: number,
  ) {}

  /**
   * When all endpoints are in back-off, the one that is available first: after the wait it asked for, or at once when the back-off is
   * our own guess.
   */
  async candidates(): Promise<PoolMember[]> {
    await this.heads.refresh();
    const now = this.clock.monotonicMs();
    const members = this.members.filter(({ health }) => health.isCandidate(now));
    const ready = members.filter(({ health }) => health.availableAt <= now);
    if (ready.length > 0) return bestFirst(ready);
    const [soonest] = members.sort((a, b) => a.health.availableAt - b.health.availableAt);
    if (soonest === undefined) return [];
    const wait = soonest.health.mustWait ? soonest.health.availableAt - now : 0;
    if (wait > this.maxWaitMs) return [];
    if (wait > 0) await this.pause(wait);
    return [soonest];
  }
}

/** Leaves out endpoints that lag or are ahead when a verified endpoint is neither; else they come last. */
function bestFirst(ready: readonly PoolMember[]): PoolMember[] {
  const sorted = ready.toSorted((a, b) => a.health.penalty - b.health.penalty);
  const current = sorted.filter(({ health }) => health.isCurrent);
  if (current.some(({ health }) => health.verified)) return current;
  const [behind, ahead] = [sorted.filter(({ health }) => health.lagging), sorted.filter(({ health }) => health.ahead)];
  return [...current, ...behind, ...ahead];
}

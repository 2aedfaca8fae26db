/** A transaction waits at most this long for others to share its step. */
const LONGEST_REST_MS = 250;
/** Share of the time in which the process is busy. Below it there is time for many small steps, and each tx is sent at once. */
const BUSY_FROM_LOAD = 0.6;

/**
 * How long a lane waits after a step, so that work gathers. A step costs about the same for one tx and for fifty. A busy process runs fewer
 * and larger steps; an idle process does not wait.
 */
export class LanePace {
  private readonly steppedAtMs = new Map<string, number>();

  /** @param load of the process, between 0 and 1 */
  constructor(private readonly load: () => number) {}

  stepped(lane: string, atMs: number): void {
    this.steppedAtMs.set(lane, atMs);
  }

  /** Milliseconds until the lane should step again; 0 for at once. */
  restOf(lane: string, nowMs: number): number {
    const steppedAtMs = this.steppedAtMs.get(lane);
    const busy = (this.load() - BUSY_FROM_LOAD) / (1 - BUSY_FROM_LOAD);
    return steppedAtMs === undefined ? 0 : Math.max(0, steppedAtMs + busy * LONGEST_REST_MS - nowMs);
  }
}

/** Nobody waits longer than this for company. */
const LONGEST_REST_MS = 250;
/** Below this load there is time for many small steps, and the next tx is sent as soon as it comes. */
const BUSY_FROM = 0.6;

/**
 * How long a lane lets work gather after a step. A step costs about the same for one tx and for fifty, so when the process has no
 * time left the lanes step seldom and take more at once; while it has, they do not wait.
 */
export class LanePace {
  private readonly steppedAtMs = new Map<string, number>();

  /** @param load of the process, between 0 and 1 */
  constructor(private readonly load: () => number) {}

  stepped(lane: string, atMs: number): void {
    this.steppedAtMs.set(lane, atMs);
  }

  /** Milliseconds until the lane should step again; 0 at once. */
  restOf(lane: string, nowMs: number): number {
    const steppedAtMs = this.steppedAtMs.get(lane);
    const busy = (this.load() - BUSY_FROM) / (1 - BUSY_FROM);
    return steppedAtMs === undefined ? 0 : Math.max(0, steppedAtMs + busy * LONGEST_REST_MS - nowMs);
  }
}

import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** Shorter looks say more about one callback than about the process. */
const WINDOW_MS = 100;

/** How busy this process's one thread of JavaScript is. */
export class EventLoopLoad {
  private since: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceMs = performance.now();
  private last = 0;

  /** Between 0 and 1, over the last tenth of a second or more. */
  current(): number {
    const now = performance.now();
    if (now - this.sinceMs >= WINDOW_MS) {
      const seen = performance.eventLoopUtilization();
      this.last = performance.eventLoopUtilization(seen, this.since).utilization;
      this.since = seen;
      this.sinceMs = now;
    }
    return this.last;
  }
}

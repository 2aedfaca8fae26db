import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** A shorter window measures single callbacks, and not the process. */
const WINDOW_MS = 100;

/** Measures how busy the JavaScript thread of this process is. */
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

import { Clock } from '../../../src/kernel/clock.js';

/** Time that stands still until a test moves it. */
export class FakeClock extends Clock {
  private elapsedMs = 0;

  constructor(private readonly start = new Date('2025-01-01T00:00:00Z')) {
    super();
  }

  now(): Date {
    return new Date(this.start.getTime() + this.elapsedMs);
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  advance(ms: number): void {
    this.elapsedMs += ms;
  }
}

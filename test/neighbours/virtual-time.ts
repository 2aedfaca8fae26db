import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '../../src/kernel/clock.js';
import type { Pause } from '../../src/platform/scheduling/pause.js';
import { FIRST_MS } from '../simulator/database-time.js';

/** Between two statements, or two round trips, there are fewer turns of the event loop than this. */
const QUIET_TURNS = 12;
/** Real milliseconds. Nothing in the lab takes as long. */
const STUCK_MS = 20_000;

/**
 * The time of a node, of its chain and of its database. It stands still while anything computes or asks the database, and then leaps to the
 * next moment that somebody waits for: what hangs for a minute costs no real time, and figures are the same in each run.
 */
export class VirtualTime extends Clock {
  private nowMs = FIRST_MS;
  private sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  private statements = 0;
  private answered: () => void = () => undefined;

  /** @param passed called with the milliseconds of each leap, before anybody wakes */
  constructor(private readonly passed: (ms: number) => Promise<void>) {
    super();
  }

  now(): Date {
    return new Date(this.nowMs);
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  readonly sleep: Pause = (ms, signal) =>
    new Promise((resolve, reject) => {
      const sleeper = { atMs: this.nowMs + Math.max(0, ms), wake: resolve };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.sleepers = this.sleepers.filter((one) => one !== sleeper);
        reject(new Error('not waited for any more'));
      });
    });

  /** Time stands still meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.statements += 1;
    try {
      return await work();
    } finally {
      this.statements -= 1;
      this.answered();
    }
  }

  /** Inside of {@link during}: time passes meanwhile, as while a statement waits for a lock. */
  async pauseDuring(ms: number): Promise<void> {
    this.statements -= 1;
    this.answered();
    await this.sleep(ms);
    this.statements += 1;
  }

  /** Lets time pass until the work has ended. */
  async until<T>(work: Promise<T>): Promise<T> {
    const progress = { ended: false };
    const end = work.finally(() => (progress.ended = true));
    end.catch(() => undefined);
    const startedAt = performance.now();
    for (;;) {
      await this.quiet();
      if (progress.ended) return end;
      if (this.sleepers.length > 0) await this.leap();
      else if (performance.now() - startedAt > STUCK_MS) throw new Error('something waits for what never comes');
    }
  }

  private async leap(): Promise<void> {
    const atMs = Math.min(...this.sleepers.map((sleeper) => sleeper.atMs));
    const woken = this.sleepers.filter((sleeper) => sleeper.atMs === atMs);
    this.sleepers = this.sleepers.filter((sleeper) => sleeper.atMs !== atMs);
    await this.passed(atMs - this.nowMs);
    this.nowMs = atMs;
    for (const { wake } of woken) wake();
  }

  private async quiet(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      await nextTurn();
      if (this.statements === 0) continue;
      await new Promise<void>((resolve) => (this.answered = resolve));
      turns = 0;
    }
  }
}

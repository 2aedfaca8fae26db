import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';

export interface TickerOptions {
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly log: Log;
}

/**
 * Runs one step again and again: at once when started, after an interval, and sooner when kicked. Never overlaps itself.
 * Timers do not keep the process alive; its server does.
 */
export class Ticker {
  private state: 'new' | 'started' | 'stopped' = 'new';
  private running: Promise<void> | null = null;
  private kicked = false;
  private timer: NodeJS.Timeout | null = null;
  private immediate: NodeJS.Immediate | null = null;
  private failed = 0;

  constructor(private readonly options: TickerOptions) {}

  /** How many runs threw. */
  get failures(): number {
    return this.failed;
  }

  start(): void {
    if (this.state !== 'new') return;
    this.state = 'started';
    this.kick();
  }

  /** Run as soon as possible. Kicks during a run add up to exactly one more run, right after it. */
  kick(): void {
    if (this.state !== 'started') return;
    if (this.running !== null) this.kicked = true;
    // An immediate, not a direct call: the caller's own work goes first, and a chain of kicks lets the loop breathe.
    else this.immediate ??= setImmediate(() => this.tick());
  }

  /** Resolves when the run in flight has ended; no other follows. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.disarm();
    await this.running;
  }

  private tick(): void {
    this.disarm();
    this.kicked = false;
    this.running = this.runSafely().finally(() => {
      this.running = null;
      this.rearm();
    });
  }

  private async runSafely(): Promise<void> {
    try {
      await this.options.run();
    } catch (error) {
      this.failed += 1;
      const { name, log } = this.options;
      log.error('ticker.failed', { ticker: name, failures: this.failed, reason: messageOf(error), error });
    }
  }

  private rearm(): void {
    if (this.state !== 'started') return;
    if (this.kicked) {
      this.kick();
      return;
    }
    this.timer = setTimeout(() => this.tick(), this.options.intervalMs).unref();
  }

  private disarm(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.immediate !== null) clearImmediate(this.immediate);
    this.timer = null;
    this.immediate = null;
  }
}

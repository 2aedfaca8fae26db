import type { SchedulerRegistry } from '@nestjs/schedule';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';

export interface TickerOptions {
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly log: Log;
  /** Lists the ticker as an interval under its name, from its start to its stop. */
  readonly registry: SchedulerRegistry;
}

/**
 * Repeats one step: at once when started, then after each interval, and sooner when kicked. Never overlaps itself. Timers do not keep the
 * process alive; its server does.
 *
 * All runs share one timer, which the registry holds: deleting the interval in the registry ends all runs except kicked ones.
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
    const { name, intervalMs, registry } = this.options;
    const timer = setTimeout(() => this.due(), intervalMs).unref();
    registry.addInterval(name, timer);
    this.timer = timer;
    this.state = 'started';
    this.kick();
  }

  /** Runs as soon as possible. Kicks during a run cause exactly one more run, right after it. */
  kick(): void {
    if (this.state !== 'started') return;
    if (this.running !== null) this.kicked = true;
    // An immediate, not a direct call: the caller finishes first, and a chain of kicks does not block the event loop.
    else this.immediate ??= setImmediate(() => this.tick());
  }

  /** Resolves when the run in flight has ended; no further run starts. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.cancelKick();
    this.delist();
    await this.running;
  }

  /** The timer may fire during a run: the end of that run sets it again. */
  private due(): void {
    if (this.state === 'started' && this.running === null) this.tick();
  }

  private tick(): void {
    this.cancelKick();
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
    if (this.isListed()) this.timer?.refresh();
  }

  private cancelKick(): void {
    if (this.immediate !== null) clearImmediate(this.immediate);
    this.immediate = null;
  }

  private delist(): void {
    if (this.isListed()) this.options.registry.deleteInterval(this.options.name);
    this.timer = null;
  }

  /** False after the interval was deleted, as Nest's shutdown does; another ticker may have the name by then. */
  private isListed(): boolean {
    const { name, registry } = this.options;
    return registry.doesExist('interval', name) && registry.getInterval(name) === this.timer;
  }
}

import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Log } from '../logging/log.js';
import { Ticker, type TickerOptions } from './ticker.js';

/** Makes the tickers of this application, and tells when they end; while they run, Nest's `SchedulerRegistry` lists them. */
@Injectable()
export class Tickers {
  private readonly works: (() => unknown)[] = [];
  private readonly lasts: (() => unknown)[] = [];

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly log: Log,
  ) {}

  /** @param endsLast the one that made it stops it, after the work; all others begin no run after the start of a shutdown */
  create(options: Pick<TickerOptions, 'name' | 'intervalMs' | 'run'>, endsLast = false): Ticker {
    const { registry, log } = this;
    const ticker = new Ticker({ ...options, registry, log });
    if (!endsLast) this.onShutdown(() => void ticker.stop());
    return ticker;
  }

  /** @param end called when a shutdown begins: begins nothing new from then on, and resolves when the work in flight has ended */
  onShutdown(end: () => unknown): void {
    this.works.push(end);
  }

  /** @param last called when all of that work has ended, or failed to */
  afterWork(last: () => unknown): void {
    this.lasts.push(last);
  }

  /**
   * The root module calls it before all other hooks of a shutdown. Nest ends one module after the other, and each would wait for its own
   * calls, and the leases for what needs none, such as a slow receiver of webhooks.
   */
  async shutDown(): Promise<void> {
    await this.end(this.works);
    await this.end(this.lasts);
  }

  private async end(parts: readonly (() => unknown)[]): Promise<void> {
    const outcomes = await Promise.allSettled(parts.map(async (part) => part()));
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        this.log.error('failed to end work at a shutdown', { error: outcome.reason as unknown });
  }
}

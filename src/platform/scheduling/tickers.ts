import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Log } from '../logging/log.js';
import { Ticker, type TickerOptions } from './ticker.js';

/** Makes the tickers of this application, and tells when they end; while they run, Nest's `SchedulerRegistry` lists them. */
@Injectable()
export class Tickers {
  private readonly listeners: (() => unknown)[] = [];

  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly log: Log,
  ) {}

  create(options: Pick<TickerOptions, 'name' | 'intervalMs' | 'run'>): Ticker {
    const { registry, log } = this;
    return new Ticker({ ...options, registry, log });
  }

  /**
   * @param begun called when a shutdown begins, before any module waits for its work in flight. What takes new work ends here: Nest ends one module
   * after the other, so each would take more while it waits for those before it.
   */
  onShutdown(begun: () => unknown): void {
    this.listeners.push(begun);
  }

  shutDown(): void {
    for (const begun of this.listeners) begun();
  }
}

import { Injectable } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Log } from '../logging/log.js';
import { Ticker, type TickerOptions } from './ticker.js';

/** Makes the tickers of this application; while they run, Nest's `SchedulerRegistry` lists them. */
@Injectable()
export class Tickers {
  constructor(
    private readonly registry: SchedulerRegistry,
    private readonly log: Log,
  ) {}

  create(options: Pick<TickerOptions, 'name' | 'intervalMs' | 'run'>): Ticker {
    const { registry, log } = this;
    return new Ticker({ ...options, registry, log });
  }
}

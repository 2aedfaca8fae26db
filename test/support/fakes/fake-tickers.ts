import { SchedulerRegistry } from '@nestjs/schedule';
import type { Log } from '../../../src/platform/logging/log.js';
import { Tickers } from '../../../src/platform/scheduling/tickers.js';

/** Tickers as an application has them. */
export function tickersWith(log: Log, registry = new SchedulerRegistry()): Tickers {
  return new Tickers(registry, log);
}

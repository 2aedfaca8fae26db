import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { MEND_FOREIGN_LOG, PgHorizon } from './pg-horizon.js';

const INTERVAL_MS = 5_000;
const TOO_LONG_SECONDS = 10;
const SAY_EVERY_MS = 60_000;

/** Says who holds back the readers of the event log: one open database transaction that has written holds back all of them. */
@Injectable()
export class HorizonWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly ticker: Ticker;
  /** What was said when, by its culprit. */
  private said = new Map<string, number>();

  constructor(
    private readonly horizon: PgHorizon,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly metrics: Metrics,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({ name: 'event-horizon', intervalMs: INTERVAL_MS, run: () => this.check() });
  }

  onApplicationBootstrap(): void {
    this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.ticker.stop();
  }

  async check(): Promise<void> {
    const { heldBackSeconds, isForeignLog } = await this.horizon.state();
    this.metrics.set('event_readers_held_back_seconds', heldBackSeconds);
    if (isForeignLog) this.sayForeign();
    else if (heldBackSeconds > TOO_LONG_SECONDS) await this.sayWho(Math.round(heldBackSeconds));
  }

  private async sayWho(seconds: number): Promise<void> {
    const writer = await this.horizon.oldestWriter();
    if (!this.isDue(`${writer?.pid}/${writer?.gid}/${writer?.since?.getTime()}`)) return;
    this.log.warn('events are held back by an open database transaction', { seconds, ...(writer ?? UNSEEN) });
  }

  private sayForeign(): void {
    if (!this.isDue('foreign')) return;
    this.log.error('the event log is that of another database cluster, and cannot be read', {
      advice: 'stop all nodes, run this statement once, and start them again (docs/operations.md, The database)',
      statement: MEND_FOREIGN_LOG,
    });
  }

  /** Once per minute for each culprit. */
  private isDue(culprit: string): boolean {
    const now = this.clock.monotonicMs();
    this.said = new Map([...this.said].filter(([, at]) => now - at < SAY_EVERY_MS));
    if (this.said.has(culprit)) return false;
    this.said.set(culprit, now);
    return true;
  }
}

const UNSEEN = { advice: 'grant pg_read_all_stats to the role of Lockstep, so that it can say which session' };

import { Injectable } from '@nestjs/common';
import { EventsConfig, TransactionsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { realPause } from '../../../platform/scheduling/pause.js';
import { OldEvents, type OldRows, OldTxs } from '../domain/old-rows.js';
import { Sweep } from '../domain/sweep.js';
import { RetentionMetrics } from './retention-metrics.js';

/** For each kind of rows. Both together end before the next run begins. */
const MAX_RUN_MS = 20_000;

interface Rule {
  readonly rows: OldRows;
  readonly sweep: Sweep;
  readonly keepMs: number;
}

/** Deletes what is older than the config says, in small batches, on one node at a time. */
@Injectable()
export class DeleteOld {
  private readonly rules: readonly Rule[];

  constructor(
    txs: OldTxs,
    private readonly events: OldEvents,
    transactionsConfig: TransactionsConfig,
    eventsConfig: EventsConfig,
    private readonly clock: Clock,
    private readonly metrics: RetentionMetrics,
  ) {
    this.rules = [
      { rows: txs, sweep: new Sweep(txs.beginning), keepMs: transactionsConfig.retention },
      { rows: events, sweep: new Sweep(events.beginning), keepMs: eventsConfig.retention },
    ].filter(({ keepMs }) => keepMs !== Infinity);
  }

  /** @param isStopped asked after each batch */
  async execute(isStopped: () => boolean): Promise<void> {
    if (this.rules.length === 0) return;
    for (const rule of this.rules) await this.deleteBatches(rule, isStopped);
    this.metrics.oldestEvent(await this.events.oldestAt());
  }

  private async deleteBatches({ rows, sweep, keepMs }: Rule, isStopped: () => boolean): Promise<void> {
    const until = this.clock.monotonicMs() + MAX_RUN_MS;
    while (!isStopped()) {
      const begun = this.clock.monotonicMs();
      const batch = await rows.deleteBehind(sweep.next(begun), keepMs);
      if (batch === null) return;
      sweep.passed(batch.next, batch.hasMore);
      for (const [table, count] of Object.entries(batch.deleted)) this.metrics.deleted(table, count);
      const now = this.clock.monotonicMs();
      const rest = now - begun;
      if (!batch.hasMore || now + rest >= until) return;
      // The database is there for others at least half of the time.
      await realPause(rest);
    }
  }
}

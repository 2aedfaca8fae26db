import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { realPause } from '../../../platform/scheduling/pause.js';
import { OldEntries, OldEvents, type OldRows, OldTxs } from '../domain/old-rows.js';

/** For each kind of rows. All together end before the next run begins. */
const MAX_RUN_MS = 15_000;

/**
 * How often to begin anew. What had to stay may go by then. Until the next vacuum, each beginning reads the index entries of all deleted
 * rows again, so it is not done every minute.
 */
const BEGIN_EVERY_MS = 3_600_000;

interface Rule {
  readonly rows: OldRows;
  readonly sweep: Sweep;
}

/** Deletes what is older than the config says, in small batches, on one node at a time. */
@Injectable()
export class DeleteOld {
  private readonly rules: readonly Rule[];
  private oldestAt: Date | null = null;

  constructor(
    txs: OldTxs,
    private readonly events: OldEvents,
    entries: OldEntries,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    this.rules = [txs, events, entries]
      .filter(({ keepMs }) => keepMs !== Infinity)
      .map((rows) => ({ rows, sweep: new Sweep(rows.beginning) }));
    metrics.onScrape('events_oldest_age_seconds', () => this.showOldest());
  }

  /** @param isStopped asked after each batch */
  async execute(isStopped: () => boolean): Promise<void> {
    if (this.rules.length === 0) return;
    const failures: unknown[] = [];
    for (const rule of this.rules)
      await this.deleteBatches(rule, isStopped).catch((error: unknown) => failures.push(error));
    this.oldestAt = await this.events.oldestAt();
    if (failures.length > 0) throw failures[0];
  }

  private showOldest(): void {
    const ageMs = this.oldestAt === null ? 0 : this.clock.now().getTime() - this.oldestAt.getTime();
    this.metrics.set('events_oldest_age_seconds', ageMs / 1_000);
  }

  private async deleteBatches({ rows, sweep }: Rule, isStopped: () => boolean): Promise<void> {
    const until = this.clock.monotonicMs() + MAX_RUN_MS;
    while (!isStopped()) {
      const begun = this.clock.monotonicMs();
      const batch = await rows.deleteBehind(sweep.next(begun));
      if (batch === null) return;
      sweep.passed(batch.next, batch.hasMore);
      for (const [table, count] of Object.entries(batch.deleted))
        this.metrics.count('retention_deleted_rows_total', count, { table });
      const now = this.clock.monotonicMs();
      const rest = now - begun;
      if (!batch.hasMore || now + rest >= until) return;
      // The database is there for others at least half of the time.
      await realPause(rest);
    }
  }
}

/** Where the next batch of a table begins. */
export class Sweep {
  private place: string;
  private begunAtMs = -Infinity;
  private isAtEnd = true;

  constructor(private readonly beginning: string) {
    this.place = beginning;
  }

  next(nowMs: number): string {
    if (this.isAtEnd && nowMs - this.begunAtMs >= BEGIN_EVERY_MS) {
      this.place = this.beginning;
      this.begunAtMs = nowMs;
    }
    return this.place;
  }

  passed(place: string, hasMore: boolean): void {
    this.place = place;
    this.isAtEnd = !hasMore;
  }
}

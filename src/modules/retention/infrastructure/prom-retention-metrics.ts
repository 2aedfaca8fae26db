import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { Clock } from '../../../kernel/clock.js';
import { RetentionMetrics } from '../application/retention-metrics.js';

@Injectable()
export class PromRetentionMetrics extends RetentionMetrics {
  private readonly deletedTotal: Counter<'table'>;
  private oldestAt: Date | null = null;

  constructor(registry: Registry, clock: Clock) {
    super();
    const registers = [registry];
    this.deletedTotal = new Counter({
      name: 'retention_deleted_rows_total',
      help: 'Rows that this node deleted because they were older than the retention',
      labelNames: ['table'],
      registers,
    });
    const oldest: Gauge = new Gauge({
      name: 'events_oldest_age_seconds',
      help: 'Age of the oldest event that is kept, as of the last run of the retention',
      registers,
      collect: () => {
        oldest.set(this.oldestAt === null ? 0 : (clock.now().getTime() - this.oldestAt.getTime()) / 1_000);
      },
    });
  }

  deleted(table: string, count: number): void {
    this.deletedTotal.inc({ table }, count);
  }

  oldestEvent(at: Date | null): void {
    this.oldestAt = at;
  }
}

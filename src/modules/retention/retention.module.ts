import { Module } from '@nestjs/common';
import { DeleteOld } from './application/delete-old.js';
import { RetentionMetrics } from './application/retention-metrics.js';
import { OldEvents, OldTxs } from './domain/old-rows.js';
import { PgOldEvents } from './infrastructure/pg-old-events.js';
import { PgOldTxs } from './infrastructure/pg-old-txs.js';
import { PromRetentionMetrics } from './infrastructure/prom-retention-metrics.js';
import { RetentionHousekeeping } from './infrastructure/retention-housekeeping.js';

@Module({
  providers: [
    DeleteOld,
    { provide: OldEvents, useClass: PgOldEvents },
    { provide: OldTxs, useClass: PgOldTxs },
    { provide: RetentionMetrics, useClass: PromRetentionMetrics },
    RetentionHousekeeping,
  ],
})
export class RetentionModule {}

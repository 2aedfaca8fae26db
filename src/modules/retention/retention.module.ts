import { Module } from '@nestjs/common';
import { DeleteOld } from './application/delete-old.js';
import { OldEntries, OldEvents, OldTxs } from './domain/old-rows.js';
import { PgOldEntries, PgOldEvents, PgOldTxs } from './infrastructure/pg-old-rows.js';
import { RetentionHousekeeping } from './infrastructure/retention-housekeeping.js';

@Module({
  providers: [
    DeleteOld,
    { provide: OldEvents, useClass: PgOldEvents },
    { provide: OldTxs, useClass: PgOldTxs },
    { provide: OldEntries, useClass: PgOldEntries },
    RetentionHousekeeping,
  ],
})
export class RetentionModule {}

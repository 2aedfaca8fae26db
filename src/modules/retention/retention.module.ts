import { Module } from '@nestjs/common';
import { DeleteOld } from './application/delete-old.js';
import { OldEvents, OldTxs } from './domain/old-rows.js';
import { PgOldEvents, PgOldTxs } from './infrastructure/pg-old-rows.js';
import { RetentionHousekeeping } from './infrastructure/retention-housekeeping.js';

@Module({
  providers: [
    DeleteOld,
    { provide: OldEvents, useClass: PgOldEvents },
    { provide: OldTxs, useClass: PgOldTxs },
    RetentionHousekeeping,
  ],
})
export class RetentionModule {}

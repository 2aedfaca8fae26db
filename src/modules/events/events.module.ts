import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { READS } from '../../platform/database/pools.js';
import { TxHistory } from './application/tx-history.js';
import { EventLog } from './domain/event-log.js';
import { PgEventLog } from './infrastructure/pg-event-log.js';
import { TxEventEntity } from './infrastructure/tx-event.entity.js';
import { TypeormTxHistory } from './infrastructure/typeorm-tx-history.js';

@Module({
  imports: [TypeOrmModule.forFeature([TxEventEntity], READS)],
  providers: [
    { provide: EventLog, useClass: PgEventLog },
    { provide: TxHistory, useClass: TypeormTxHistory },
  ],
  exports: [EventLog, TxHistory],
})
export class EventsModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TxHistory } from './application/tx-history.js';
import { EventLog } from './domain/event-log.js';
import { PgEventLog } from './infrastructure/pg-event-log.js';
import { TxEventEntity } from './infrastructure/tx-event.entity.js';
import { TypeormTxHistory } from './infrastructure/typeorm-tx-history.js';

@Module({
  imports: [TypeOrmModule.forFeature([TxEventEntity])],
  providers: [
    { provide: EventLog, useClass: PgEventLog },
    { provide: TxHistory, useClass: TypeormTxHistory },
  ],
  exports: [EventLog, TxHistory],
})
export class EventsModule {}

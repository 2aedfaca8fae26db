import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { READS } from '../../platform/database/pools.js';
import { EventBell } from './application/event-bell.js';
import { EventWindow } from './application/event-window.js';
import { ListEvents } from './application/list-events.js';
import { OldReads } from './application/old-reads.js';
import { EventTimes } from './application/event-times.js';
import { TxHistory } from './application/tx-history.js';
import { EventLog } from './domain/event-log.js';
import { EventReader } from './domain/event-reader.js';
import { EventsController } from './infrastructure/http/events.controller.js';
import { EventStreams } from './infrastructure/http/event-streams.js';
import { HorizonWatch } from './infrastructure/horizon-watch.js';
import { PgEventBell } from './infrastructure/pg-event-bell.js';
import { PgEventLog } from './infrastructure/pg-event-log.js';
import { PgEventReader } from './infrastructure/pg-event-reader.js';
import { PgHorizon } from './infrastructure/pg-horizon.js';
import { PgEventTimes } from './infrastructure/pg-event-times.js';
import { TxEventEntity, TypeormTxHistory } from './infrastructure/typeorm-tx-history.js';

@Module({
  imports: [TypeOrmModule.forFeature([TxEventEntity], READS)],
  controllers: [EventsController],
  providers: [
    EventStreams,
    EventWindow,
    HorizonWatch,
    ListEvents,
    OldReads,
    PgHorizon,
    { provide: EventBell, useClass: PgEventBell },
    { provide: EventReader, useClass: PgEventReader },
    { provide: EventTimes, useClass: PgEventTimes },
    { provide: EventLog, useClass: PgEventLog },
    { provide: TxHistory, useClass: TypeormTxHistory },
  ],
  exports: [EventBell, EventLog, EventReader, EventTimes, TxHistory],
})
export class EventsModule {}

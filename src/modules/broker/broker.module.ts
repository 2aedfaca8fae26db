import { type DynamicModule, Module } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/metrics.js';
import { BrokerConfig, EventSink } from '../../sinks/event-sink.js';
import { EventsModule } from '../events/events.module.js';
import { FeedClaim } from './application/feed-claim.js';
import { FeedHealth } from './application/feed-health.js';
import { FeedSink } from './application/feed-sink.js';
import { HoldClaim } from './application/hold-claim.js';
import { FeedCursor } from './domain/feed-cursor.js';
import { BrokerFeeder } from './infrastructure/broker-feeder.js';
import { PgFeedCursor } from './infrastructure/pg-feed-cursor.js';

/** For nodes that act, where a broker is configured. */
@Module({ imports: [EventsModule] })
export class BrokerModule {
  static register(config: BrokerConfig): DynamicModule {
    return {
      module: BrokerModule,
      providers: [
        BrokerFeeder,
        FeedClaim,
        FeedHealth,
        FeedSink,
        HoldClaim,
        { provide: BrokerConfig, useValue: config },
        { provide: EventSink, inject: [Metrics], useFactory: (metrics: Metrics) => config.createSink(metrics) },
        { provide: FeedCursor, useClass: PgFeedCursor },
      ],
    };
  }
}

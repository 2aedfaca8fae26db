import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { BrokerMetrics } from './application/broker-metrics.js';
import { FeedClaim } from './application/feed-claim.js';
import { FeedHealth } from './application/feed-health.js';
import { FeedSink } from './application/feed-sink.js';
import { HoldClaim } from './application/hold-claim.js';
import { EventSink } from './domain/event-sink.js';
import { FeedCursor } from './domain/feed-cursor.js';
import { BrokerFeeder } from './infrastructure/broker-feeder.js';
import { NatsConnection } from './infrastructure/nats/nats-connection.js';
import { NatsSink } from './infrastructure/nats/nats-sink.js';
import { PgFeedCursor } from './infrastructure/pg-feed-cursor.js';
import { PromBrokerMetrics } from './infrastructure/prom-broker-metrics.js';

@Module({
  imports: [EventsModule],
  providers: [
    BrokerFeeder,
    FeedClaim,
    FeedHealth,
    FeedSink,
    HoldClaim,
    NatsConnection,
    { provide: BrokerMetrics, useClass: PromBrokerMetrics },
    { provide: EventSink, useClass: NatsSink },
    { provide: FeedCursor, useClass: PgFeedCursor },
  ],
})
export class BrokerModule {}

import { BrokerMetrics } from '../../../src/modules/broker/application/broker-metrics.js';
import type { PublishFailureCode } from '../../../src/modules/broker/domain/event-sink.js';
import type { FeedLag } from '../../../src/modules/broker/domain/feed-cursor.js';

export class RecordedBrokerMetrics extends BrokerMetrics {
  counts = { events: 0, duplicates: 0 };
  readonly failures: PublishFailureCode[] = [];
  isConnected = false;
  lastLag: FeedLag | null = null;

  published(events: number, duplicates: number): void {
    this.counts = { events: this.counts.events + events, duplicates: this.counts.duplicates + duplicates };
  }

  failed(code: PublishFailureCode): void {
    this.failures.push(code);
  }

  connected(isConnected: boolean): void {
    this.isConnected = isConnected;
  }

  lag(lag: FeedLag): void {
    this.lastLag = lag;
  }
}

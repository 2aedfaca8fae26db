import type { PublishFailureCode } from '../domain/event-sink.js';
import type { FeedLag } from '../domain/feed-cursor.js';

/** Metrics of the broker, for `/metrics`. */
export abstract class BrokerMetrics {
  /** @param duplicates of them, those that the broker had already and dropped */
  abstract published(events: number, duplicates: number): void;
  abstract failed(code: PublishFailureCode): void;
  abstract connected(isConnected: boolean): void;
  abstract lag(lag: FeedLag): void;
}

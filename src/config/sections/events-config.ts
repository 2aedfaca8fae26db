import { Count, Duration, Retention } from '../config-fields.js';

export class EventsConfig {
  /** Milliseconds without an event after which a stream gets a comment and its place in the log. */
  @Duration({ max: 60_000 })
  heartbeat = 15_000;

  /** Milliseconds after which a stream is closed whose client does not take what was sent. */
  @Duration()
  slowClientTimeout = 10_000;

  /** Streams that are open at one node; above it a node answers 503. */
  @Count({ max: 100_000 })
  maxStreams = 1_000;

  /** Milliseconds that events are kept, infinite when they are kept for ever. Events of unfinished transactions always stay. */
  @Retention({ min: 3_600_000, words: 'must be at least 1h: readers need time to come back to their place' })
  retention = Infinity;
}

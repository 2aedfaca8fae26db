import type { AllowedTarget } from '../allowed-target.js';
import { AllowedTargets, Duration, EncryptionKeys, Retention } from '../config-fields.js';

export class EventsConfig {
  /** Milliseconds that events are kept, infinite when they are kept for ever. Events of unfinished transactions always stay. */
  @Retention({ min: 3_600_000, words: 'must be at least 1h: readers need time to come back to their place' })
  retention = Infinity;

  /** Milliseconds without an event after which a stream gets a comment and its place in the log. No key: below the 30 s and more of proxies. */
  readonly heartbeat: number = 15_000;

  /** Milliseconds after which a stream is closed whose client does not take what was sent. No key: the client continues at its place. */
  readonly slowClientTimeout: number = 10_000;

  /** Streams that are open at one node; above it a node answers 503. No key: it bounds memory, and more nodes carry more streams. */
  readonly maxStreams: number = 1_000;
}

export class WebhooksConfig {
  /** Targets that are not on the public internet and may be sent to all the same. Plain http is for these only. */
  @AllowedTargets()
  allow: AllowedTarget[] = [];

  /** The secrets of webhooks are encrypted with the first one, and decrypted with any. Without one, no secret can be made. */
  @EncryptionKeys()
  encryptionKeys: Buffer[] = [];

  /** Milliseconds of one post, from the lookup of the name to the end of the answer. */
  @Duration()
  timeout = 15_000;

  /** Milliseconds from an event to the end of the retries of its deliveries. No key: a weekend; what is dead can be replayed for 30 days. */
  readonly retryFor: number = 3 * 86_400_000;

  /** Posts of a node to one endpoint at the same time. No key: with 32 a receiver was seconds behind (docs/performance.md). */
  readonly concurrency: number = 64;
}

import { FeedClaim } from '../../../src/modules/broker/application/feed-claim.js';
import { FeedHealth } from '../../../src/modules/broker/application/feed-health.js';
import { FeedSink } from '../../../src/modules/broker/application/feed-sink.js';
import { HoldClaim } from '../../../src/modules/broker/application/hold-claim.js';
import {
  behindRow,
  comparePositions,
  type EventPage,
  type EventPosition,
  EventReader,
  LOG_BEGINNING,
  type PublicEvent,
} from '../../../src/modules/events/index.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { Named } from '../../support/fakes/fake-node.js';
import { MemoryFeedCursor } from '../../support/fakes/memory-feed-cursor.js';
import { MemoryBroker, MemorySink } from '../../support/fakes/memory-sink.js';
import { aPublicEvent } from '../../support/public-events.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';

/** A log of events in memory. Rows may have one event, several, or none. */
export class MemoryReader extends EventReader {
  readonly rows: (readonly PublicEvent[])[] = [];
  isHeldBack = false;

  /** Rows of these numbers of public events. */
  add(...counts: number[]): void {
    for (const count of counts) {
      const seq = this.rows.length + 1;
      const parts = Array.from({ length: count }, (_, part) => ({ xid: 7n, seq: BigInt(seq), part }));
      this.rows.push(parts.map((position) => aPublicEvent(seq, { position })));
    }
  }

  async page(after: EventPosition, limit: number): Promise<EventPage> {
    const from = this.rows.findIndex((_, n) => comparePositions(behindRow('7', String(n + 1)), after) > 0);
    const rows = from < 0 ? [] : this.rows.slice(from, from + limit);
    const next = rows.length === 0 ? after : behindRow('7', String(from + rows.length));
    return { events: rows.flat(), next, hasMore: rows.length === limit, isHeldBack: this.isHeldBack };
  }

  pageIn(): Promise<EventPage> {
    return Promise.reject(new Error('nothing reads in a database transaction here'));
  }

  async knows(): Promise<boolean> {
    return true;
  }

  async end(): Promise<EventPosition> {
    return this.rows.length === 0 ? LOG_BEGINNING : behindRow('7', String(this.rows.length));
  }
}

/** Two nodes are two labs with one cursor, one reader and one sink. */
export class FeedLab {
  readonly clock = new FakeClock();
  readonly log = new RecordingLog();
  readonly metrics = new FakeMetrics();
  readonly config = Object.assign(new MemoryBroker(), { startAt: 'beginning' });
  readonly health = new FeedHealth(this.clock, this.metrics, this.log);
  readonly claim: FeedClaim;
  readonly feed: FeedSink;
  readonly hold: HoldClaim;

  constructor(
    readonly name = 'first',
    readonly cursor = new MemoryFeedCursor(),
    readonly reader = new MemoryReader(),
    readonly sink = new MemorySink(),
  ) {
    this.claim = new FeedClaim(cursor, new Named(name), this.clock);
    this.feed = new FeedSink(this.claim, reader, sink, this.health);
    this.hold = new HoldClaim(this.claim, this.health, cursor, reader, this.config, this.metrics);
  }

  another(name: string): FeedLab {
    return new FeedLab(name, this.cursor, this.reader, this.sink);
  }

  /** With the claim. */
  async started(...counts: number[]): Promise<this> {
    this.reader.add(...counts);
    await this.hold.execute();
    return this;
  }
}

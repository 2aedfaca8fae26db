import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import {
  comparePositions,
  type EventPage,
  type EventPosition,
  EventReader,
  LOG_BEGINNING,
  type PublicEvent,
} from '../../../src/modules/events/index.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { aSigner, DEV_CHAIN } from '../builders.js';

/** Row `n` of a log, as a public event. */
export function aPublicEvent(n: number, overrides: Partial<PublicEvent> = {}): PublicEvent {
  return {
    position: { xid: BigInt(n), seq: BigInt(n), part: 0 },
    type: 'tx.submitted',
    time: new Date('2025-01-01T00:00:00Z'),
    chainId: DEV_CHAIN,
    signer: aSigner().address,
    txId: null,
    callback: null,
    account: DEFAULT_ACCOUNT,
    data: { n },
    ...overrides,
  };
}

/** A log in memory, which counts how often it is read. */
export class MemoryEventLog extends EventReader {
  readonly events: PublicEvent[] = [];
  reads = 0;
  isHeldBack = false;
  isAway = false;
  /** The database has lost its last events. */
  isSetBack = false;

  add(...events: readonly PublicEvent[]): void {
    this.events.push(...events);
  }

  override async page(after: EventPosition, limit: number): Promise<EventPage> {
    this.reads += 1;
    if (this.isAway) throw new Unavailable('database_unavailable', 'away', 'wait');
    const following = this.events.filter(({ position }) => comparePositions(position, after) > 0);
    const events = following.slice(0, limit);
    const next = events.at(-1)?.position ?? after;
    return { events, next, hasMore: events.length === limit, isHeldBack: this.isHeldBack };
  }

  override pageIn(_tx: unknown, after: EventPosition, limit: number): Promise<EventPage> {
    return this.page(after, limit);
  }

  override async knows(place: EventPosition): Promise<boolean> {
    if (this.isAway) throw new Unavailable('database_unavailable', 'away', 'wait');
    return !this.isSetBack || this.events.some(({ position }) => comparePositions(position, place) === 0);
  }

  override async end(): Promise<EventPosition> {
    if (this.isAway) throw new Unavailable('database_unavailable', 'away', 'wait');
    return this.events.at(-1)?.position ?? LOG_BEGINNING;
  }
}

import type { Tx } from '../../../kernel/unit-of-work.js';
import type { EventFilter } from './event-filter.js';
import type { EventPosition } from './event-position.js';
import type { PublicEvent } from './public-event.js';

/** Some events, in their order. */
export interface EventPage {
  readonly events: readonly PublicEvent[];
  /** Read on after this. It is beyond the last event when rows that are not public follow it. */
  readonly next: EventPosition;
  /** There may be more that can be read now. */
  readonly hasMore: boolean;
  /** There are later events that cannot be read yet, because a database transaction that began before is still open. */
  readonly isHeldBack: boolean;
}

/**
 * Reads the event log so that no event is skipped or repeated. The order is that of the commits as far as it matters: events of one tx come in
 * the order in which they happened. An event can be read when all database transactions that may still write before it have ended.
 */
export abstract class EventReader {
  /**
   * @param limit of rows, of which not all are public events
   * @param filter leaves out most rows that it does not want; the page goes as far as without it
   */
  abstract page(after: EventPosition, limit: number, filter?: EventFilter): Promise<EventPage>;
  /** The same in a database transaction. */
  abstract pageIn(tx: Tx, after: EventPosition, limit: number): Promise<EventPage>;
  /** False for a place that this log never had, or has lost: the database is another one, or was set back. */
  abstract knows(place: EventPosition): Promise<boolean>;
  /** Behind all events that can be read now. */
  abstract end(): Promise<EventPosition>;
}

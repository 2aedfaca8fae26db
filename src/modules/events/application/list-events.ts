import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { type EventFilter, isWanted } from '../domain/event-filter.js';
import { eventId, type EventPosition } from '../domain/event-position.js';
import { EventReader } from '../domain/event-reader.js';
import type { PublicEvent } from '../domain/public-event.js';
import { OldReads } from './old-reads.js';

export const MAX_LISTED_EVENTS = 1_000;
/** A call reads at most this many pages of the log, even if its filter matches nothing in them. */
const MAX_READS = 10;

export interface ListedEvents {
  readonly events: readonly PublicEvent[];
  /** List on after this. It advances over events that the filter leaves out. */
  readonly next: EventPosition;
}

/** One page of events for clients that poll. */
@Injectable()
export class ListEvents {
  constructor(
    private readonly reader: EventReader,
    private readonly oldReads: OldReads,
  ) {}

  /**
   * @param after null: the page is empty, and the next one has what happens from now on
   * @throws Conflict `unknown_event_id`
   */
  async execute(after: EventPosition | null, filter: EventFilter, limit: number): Promise<ListedEvents> {
    if (after === null) return { events: [], next: await this.reader.end() };
    await checkPlace(this.reader, after);
    const events: PublicEvent[] = [];
    let next = after;
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const page = await this.oldReads.page(next, filter);
      events.push(...page.events.filter((event) => isWanted(filter, event)));
      if (events.length >= limit) return cut(events, limit, page.next);
      next = page.next;
      if (!page.hasMore) break;
    }
    return { events, next };
  }
}

function cut(events: readonly PublicEvent[], limit: number, next: EventPosition): ListedEvents {
  const last = events[limit - 1];
  return { events: events.slice(0, limit), next: events.length > limit && last ? last.position : next };
}

/** @throws Conflict `unknown_event_id` for a place that is not of this log: a client that goes on there would wait for ever, or miss events */
export async function checkPlace(reader: EventReader, place: EventPosition): Promise<void> {
  if (await reader.knows(place)) return;
  throw new Conflict(
    'unknown_event_id',
    `the event log has not come to ${eventId(place)}: the database was restored, or a standby without the last commits took over`,
    'go on after an event from some time before, and compare the state of transactions; an operator knows whether the log was mended (docs/operations.md, The database)',
  );
}

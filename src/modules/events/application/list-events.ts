import { Injectable } from '@nestjs/common';
import { type EventFilter, isWanted } from '../domain/event-filter.js';
import type { EventPosition } from '../domain/event-position.js';
import { EventReader } from '../domain/event-reader.js';
import type { PublicEvent } from '../domain/public-event.js';

export const MAX_LISTED_EVENTS = 1_000;
const ROWS_PER_READ = 1_000;
/** A call reads at most this many times {@link ROWS_PER_READ} rows, even if its filter matches none of them. */
const MAX_READS = 10;

export interface ListedEvents {
  readonly events: readonly PublicEvent[];
  /** List on after this. It advances over events that the filter leaves out. */
  readonly next: EventPosition;
}

/** One page of events for clients that poll. */
@Injectable()
export class ListEvents {
  constructor(private readonly reader: EventReader) {}

  /** @param after null: the page is empty, and the next one has what happens from now on */
  async execute(after: EventPosition | null, filter: EventFilter, limit: number): Promise<ListedEvents> {
    if (after === null) return { events: [], next: await this.reader.end() };
    const events: PublicEvent[] = [];
    let next = after;
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      const page = await this.reader.page(next, ROWS_PER_READ);
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

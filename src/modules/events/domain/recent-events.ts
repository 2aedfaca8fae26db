import { bodyOf } from './publish.js';
import { comparePositions, type EventPosition } from './event-position.js';
import type { EventPage } from './event-reader.js';
import type { PublicEvent } from './public-event.js';

const MOST_EVENTS = 10_000;
/** The size of their bodies. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Kept {
  readonly event: PublicEvent;
  readonly bytes: number;
}

/** All events from one place of the log to another, bounded in count and bytes: the oldest make room for new ones. */
export class RecentEvents {
  private kept: Kept[] = [];
  private bytes = 0;
  private start: EventPosition;

  constructor(
    private last: EventPosition,
    private readonly most = { events: MOST_EVENTS, bytes: MOST_BYTES },
  ) {
    this.start = last;
  }

  get end(): EventPosition {
    return this.last;
  }

  /** @param page read after {@link end} */
  add({ events, next }: Pick<EventPage, 'events' | 'next'>): void {
    for (const event of events) {
      const bytes = JSON.stringify(bodyOf(event)).length;
      this.kept.push({ event, bytes });
      this.bytes += bytes;
    }
    this.last = next;
    this.makeRoom();
  }

  /** @returns null when it does not have all events after that place */
  after(place: EventPosition, limit: number): EventPage | null {
    if (comparePositions(place, this.start) < 0) return null;
    const from = this.indexAfter(place);
    const events = this.kept.slice(from, from + limit).map(({ event }) => event);
    const last = events.at(-1);
    const hasMore = from + limit < this.kept.length;
    const end = comparePositions(this.last, place) < 0 ? place : this.last;
    return { events, next: hasMore && last ? last.position : end, hasMore, isHeldBack: false };
  }

  private makeRoom(): void {
    let drop = 0;
    while (this.kept.length - drop > this.most.events || this.bytes > this.most.bytes) {
      const oldest = this.kept[drop];
      if (oldest === undefined) break;
      this.bytes -= oldest.bytes;
      this.start = oldest.event.position;
      drop += 1;
    }
    if (drop > 0) this.kept = this.kept.slice(drop);
  }

  private indexAfter(place: EventPosition): number {
    let [low, high] = [0, this.kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = this.kept[middle];
      if (at !== undefined && comparePositions(at.event.position, place) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

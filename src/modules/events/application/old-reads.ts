import { Injectable } from '@nestjs/common';
import type { Address } from '../../../kernel/hex.js';
import { Clock } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/group-by.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { ALL_EVENTS, type EventFilter } from '../domain/event-filter.js';
import { comparePositions, type EventPosition } from '../domain/event-position.js';
import { type EventPage, EventReader } from '../domain/event-reader.js';
import type { PublicEvent } from '../domain/public-event.js';

export const ROWS_PER_READ = 1_000;
/** So many clients near the same place share one read, also when they want different events. A filter in the database costs less for fewer. */
const MOST_APART = 8;
/** A reader rests this many times as long as its read and the answers took, so all of them together take a quarter of a core at most. */
const RESTS_PER_READ = 7;
/** One slow read does not stop its reader for minutes. */
const LONGEST_REST_MS = 1_000;

interface Asked {
  readonly after: EventPosition;
  readonly filter: EventFilter;
  readonly resolve: (page: EventPage) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What the two readers of a node read next: one takes turns, so that nobody waits for those who begin further back; the other takes who is
 * furthest back, so that clients meet and go on together.
 */
const CHOICES: readonly ((waiting: readonly Asked[]) => Asked | undefined)[] = [
  ([first]) => first,
  (waiting) =>
    waiting.reduce<Asked | undefined>((a, b) => (a && comparePositions(a.after, b.after) <= 0 ? a : b), undefined),
];

/**
 * Reads of the old log by clients that catch up, two at a time per node. Clients at the same place share a read: a thousand of them that begin
 * at the start of the log read it once. The database has time for other work in between.
 */
@Injectable()
export class OldReads {
  /** In the order in which they were asked for. */
  private waiting: Asked[] = [];
  private readonly busy = new Set<(typeof CHOICES)[number]>();

  constructor(
    private readonly reader: EventReader,
    private readonly clock: Clock,
    private readonly pauses: Pauses,
  ) {}

  /** @returns a page with at least the events that pass the filter */
  page(after: EventPosition, filter: EventFilter): Promise<EventPage> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ after, filter, resolve, reject });
      for (const choose of CHOICES) if (!this.busy.has(choose)) void this.readAll(choose);
    });
  }

  private async readAll(choose: (typeof CHOICES)[number]): Promise<void> {
    this.busy.add(choose);
    for (let next = choose(this.waiting); next !== undefined; next = choose(this.waiting)) {
      const beganMs = this.clock.monotonicMs();
      await this.read(next);
      // The clients that were answered go first: what they do with their events counts, too.
      await this.pauses.pause(0);
      const restMs = RESTS_PER_READ * (this.clock.monotonicMs() - beganMs);
      await this.pauses.pause(Math.min(restMs, LONGEST_REST_MS));
    }
    this.busy.delete(choose);
  }

  private async read({ after, filter: own }: Asked): Promise<void> {
    const near = this.waiting.filter((asked) => isNear(after, asked.after));
    const filter = near.length > MOST_APART ? commonFilter(near.map((asked) => asked.filter)) : own;
    const together = new Set(near.filter((asked) => covers(filter, asked.filter)));
    this.waiting = this.waiting.filter((asked) => !together.has(asked));
    try {
      const page = await this.reader.page(after, ROWS_PER_READ, filter);
      this.waiting.unshift(...answered(page, after, together));
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }
}

/** @returns those whose place the page does not reach */
function answered(page: EventPage, from: EventPosition, together: Iterable<Asked>): Asked[] {
  const bySigner = groupBy(page.events, ({ signer }) => signer);
  const eventsOf = (signer: Address | null): readonly PublicEvent[] =>
    signer === null ? page.events : (bySigner.get(signer) ?? []);
  return [...together].filter(({ after, filter, resolve }) => {
    const isAhead = comparePositions(after, from) > 0;
    if (isAhead && comparePositions(after, page.next) >= 0) return true;
    const events = eventsOf(filter.signer);
    resolve({
      ...page,
      events: isAhead ? events.filter(({ position }) => comparePositions(position, after) > 0) : events,
    });
    return false;
  });
}

/** Whether a page that begins at `from` probably reaches a place. Numbers of rows follow the order of the log nearly. */
function isNear(from: EventPosition, place: EventPosition): boolean {
  return comparePositions(place, from) >= 0 && place.seq - from.seq <= BigInt(ROWS_PER_READ);
}

/** Lets pass what any of these wants. */
function commonFilter([first, ...more]: readonly EventFilter[]): EventFilter {
  const common = first ?? ALL_EVENTS;
  const shared = <K extends 'chainId' | 'signer' | 'txId'>(key: K): EventFilter[K] | null =>
    more.every((filter) => filter[key] === common[key]) ? common[key] : null;
  return { chainId: shared('chainId'), signer: shared('signer'), txId: shared('txId'), types: null, viewer: null };
}

/** A reader filters by chain, signer and tx; types and who may see an event are left to the client's side. */
function covers(wide: EventFilter, narrow: EventFilter): boolean {
  return (['chainId', 'signer', 'txId'] as const).every((key) => wide[key] === null || wide[key] === narrow[key]);
}

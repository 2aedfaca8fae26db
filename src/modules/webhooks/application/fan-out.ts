import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { Portion } from '../../../platform/scheduling/portion.js';
import { behindRow, type EventPage, type EventPosition, EventReader, type PublicEvent } from '../../events/index.js';
import { FanOutLog, type Match } from '../domain/fan-out-log.js';
import { type Subscriber, wants } from '../domain/webhook-endpoint.js';

/** Rows of the event log that are read at once. */
const PAGE_ROWS = 500;
/** Deliveries in one database transaction, which has to be short: readers of the log wait for its end. */
const MOST_AT_ONCE = 500;
/** Endpoints that are asked whether they want an event, before others have the thread: some milliseconds. */
const LOOKS_PER_TURN = 20_000;

export interface FannedOut {
  /** Nobody subscribes, or another node is at it. */
  readonly isIdle: boolean;
  readonly deliveries: number;
  readonly hasMore: boolean;
  /** See {@link EventPage.isHeldBack}. */
  readonly isHeldBack: boolean;
}

const IDLE: FannedOut = { isIdle: true, deliveries: 0, hasMore: false, isHeldBack: false };

/**
 * Turns the next events of the log into deliveries, each exactly once: some deliveries at a time, and the place moves with the last one of a
 * row. What was inserted before the place has moved is found to be there.
 */
@Injectable()
export class FanOut {
  private readonly portion = new Portion(MOST_AT_ONCE);

  constructor(
    private readonly work: UnitOfWork,
    private readonly events: EventReader,
    private readonly log: FanOutLog,
  ) {}

  async execute(): Promise<FannedOut> {
    const place = await this.log.place();
    if (place === null) return IDLE;
    const page = await this.work.run((tx) => this.events.pageIn(tx, place, PAGE_ROWS));
    // After the page: an endpoint that is created between the two gets what was committed after it.
    const subscribers = await this.log.subscribers();
    const deliveries = await this.insertAll(page, place, subscribers);
    const { hasMore, isHeldBack } = page;
    return deliveries === null ? IDLE : { isIdle: false, deliveries, hasMore, isHeldBack };
  }

  /** @returns how many; null when another node goes on with them */
  private async insertAll(
    page: EventPage,
    from: EventPosition,
    subscribers: readonly Subscriber[],
  ): Promise<number | null> {
    let [place, done, inserted] = [from, from, 0];
    let batch: Match[] = [];
    let looks = 0;
    for (const [index, event] of page.events.entries()) {
      looks += subscribers.length;
      if (looks > LOOKS_PER_TURN) {
        looks = 0;
        await nextTurn();
      }
      for (const one of subscribers) {
        if (!wants(one, event)) continue;
        batch.push({ event, endpointId: one.id });
        if (batch.length < this.portion.size) continue;
        if (!(await this.insert(batch, place, done))) return null;
        [place, inserted, batch] = [done, inserted + batch.length, []];
      }
      if (!isSameRow(event, page.events[index + 1])) done = behindRow(event.position.xid, event.position.seq);
    }
    if (batch.length === 0 && page.next === place) return inserted;
    return (await this.insert(batch, place, page.next)) ? inserted + batch.length : null;
  }

  private insert(batch: readonly Match[], from: EventPosition, to: EventPosition): Promise<boolean> {
    return this.portion.take(() =>
      this.work.run(async (tx) => {
        if (!(await this.log.lock(tx, from))) return false;
        if (batch.length > 0) await this.log.insert(tx, batch);
        if (to !== from) await this.log.moveTo(tx, to);
        return true;
      }),
    );
  }
}

function isSameRow({ position }: PublicEvent, next: PublicEvent | undefined): boolean {
  return position.xid === next?.position.xid && position.seq === next.position.seq;
}

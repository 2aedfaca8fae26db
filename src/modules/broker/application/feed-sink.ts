import { Injectable } from '@nestjs/common';
import { comparePositions, EventReader, type EventPosition, type PublicEvent } from '../../events/index.js';
import { EventSink, PublishFailed } from '../domain/event-sink.js';
import { FeedClaim } from './feed-claim.js';
import { FeedHealth } from './feed-health.js';
import { placeBefore } from './place-before.js';

/** Also the bound of what is published and not acknowledged. */
const PAGE_ROWS = 500;

/** When to look again: `now`, `soon` for events that cannot be read yet, `later` when there are none. */
export type NextLook = 'now' | 'soon' | 'later';

interface Stop {
  /** So many events, the first ones, are stored. */
  readonly stored: number;
  readonly failure: PublishFailed;
}

/**
 * Publishes the next page of the event log. The cursor moves after the broker has stored the events, so a crash at any line publishes some of
 * them twice, and loses none.
 */
@Injectable()
export class FeedSink {
  constructor(
    private readonly claim: FeedClaim,
    private readonly reader: EventReader,
    private readonly sink: EventSink,
    private readonly health: FeedHealth,
  ) {}

  async execute(): Promise<NextLook> {
    const { place } = this.claim;
    if (place === null || this.health.isResting) return 'later';
    const { events, next, hasMore, isHeldBack } = await this.reader.page(place, PAGE_ROWS);
    const stop = await this.publish(events);
    if (stop !== null) return this.stopAt(place, events, stop);
    if (comparePositions(next, place) > 0) await this.claim.move(next);
    if (hasMore) return 'now';
    return isHeldBack ? 'soon' : 'later';
  }

  /**
   * After a failure the first event goes alone: while it is not taken, the others must not be stored again and again.
   * @returns null when all are stored
   */
  private async publish(events: readonly PublicEvent[]): Promise<Stop | null> {
    const alone = this.health.isDown ? 1 : 0;
    let stored = 0;
    for (const some of [events.slice(0, alone), events.slice(alone)].filter(({ length }) => length > 0)) {
      try {
        await this.sink.publish(some);
      } catch (failure) {
        if (!(failure instanceof PublishFailed)) throw failure;
        return { stored: stored + failure.stored, failure };
      }
      stored += some.length;
    }
    if (stored > 0) this.health.succeeded();
    return null;
  }

  private async stopAt(place: EventPosition, events: readonly PublicEvent[], stop: Stop): Promise<NextLook> {
    const stored = placeBefore(events, stop.stored);
    const hasProgress = stored !== null && comparePositions(stored, place) > 0;
    this.health.failed(stop.failure, hasProgress);
    if (hasProgress) await this.claim.move(stored);
    await this.claim.release();
    return 'later';
  }
}

import { Injectable } from '@nestjs/common';
import { EventSink, PublishFailed, type SinkMessage } from '../../../sinks/event-sink.js';
import {
  behindRow,
  bodyOf,
  comparePositions,
  eventId,
  type EventPosition,
  EventReader,
  type PublicEvent,
} from '../../events/index.js';
import { FeedClaim } from './feed-claim.js';
import { FeedHealth } from './feed-health.js';

/** Also the bound of what is published and not acknowledged. */
const PAGE_ROWS = 500;

/** When to look again: `now`, `soon` for events that cannot be read yet, `later` when there are none. */
export type NextLook = 'now' | 'soon' | 'later';

interface Stop {
  /** How many of the first events are stored. */
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
    if (comparePositions(next, place) > 0) await this.claim.move(place, next);
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
        await this.sink.publish(some.map(messageOf));
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
    if (hasProgress) await this.claim.move(place, stored);
    await this.claim.release();
    return 'later';
  }
}

export function messageOf(event: PublicEvent): SinkMessage {
  const { position, type, chainId, signer } = event;
  return { id: eventId(position), type, chainId, signer, body: JSON.stringify(bodyOf(event)) };
}

/**
 * Up to where the log is published when only the first `stored` events are: behind the last row of which all events are among them. Null
 * when there is none.
 */
function placeBefore(events: readonly PublicEvent[], stored: number): EventPosition | null {
  const next = events[stored]?.position;
  const whole = events.slice(0, stored).filter(({ position: { xid, seq } }) => xid !== next?.xid || seq !== next.seq);
  const last = whole.at(-1)?.position;
  return last === undefined ? null : behindRow(last.xid, last.seq);
}

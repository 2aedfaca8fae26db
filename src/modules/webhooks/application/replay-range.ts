import { Injectable } from '@nestjs/common';
import type { Viewer } from '../../../kernel/caller.js';
import { type EventPosition, EventReader, EventTimes, type PublicEvent } from '../../events/index.js';
import { DeliveryLog } from '../domain/delivery-log.js';
import { wants } from '../domain/webhook-endpoint.js';
import { WebhookEndpoints } from '../domain/webhook-endpoints.js';
import { enabledWebhook } from './unknown-webhook.js';

const PAGE_ROWS = 500;
/** One request reads at most this many pages, even if its endpoint wants none of their events. */
const MOST_PAGES = 100;
/** Events are in the order of their commits: one may come later in the log than a younger one, by no more than the longest commit. */
const DISORDER_MS = 60_000;

export interface TimeRange {
  readonly since: Date;
  readonly until: Date;
}

export interface Replayed {
  readonly replayed: number;
  readonly hasMore: boolean;
  /** Where to go on; null when all was replayed. */
  readonly next: EventPosition | null;
}

/** Sends the events of a time again that an endpoint wants, also those that it never got because it was disabled. */
@Injectable()
export class ReplayRange {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly events: EventReader,
    private readonly times: EventTimes,
    private readonly log: DeliveryLog,
  ) {}

  /**
   * @param after goes on behind this place
   * @throws NotFound `webhook_not_found`; Conflict `webhook_disabled`
   */
  async execute(
    endpointId: string,
    viewer: Viewer,
    range: TimeRange,
    after: EventPosition | null,
    limit: number,
  ): Promise<Replayed> {
    const endpoint = enabledWebhook(endpointId, await this.endpoints.find(endpointId, viewer));
    const last = range.until.getTime() + DISORDER_MS;
    let place = after ?? (await this.times.before(new Date(range.since.getTime() - DISORDER_MS)));
    let replayed = 0;
    for (let pages = 1; ; pages += 1) {
      const page = await this.events.page(place, PAGE_ROWS);
      const matches = page.events.filter((event) => isWithin(event, range) && wants(endpoint, event));
      if (matches.length > 0) {
        replayed += await this.log.insertOrRepeat(matches.map((event) => ({ event, endpointId })));
      }
      place = page.next;
      if (!page.hasMore || page.events.some(({ time }) => time.getTime() > last)) {
        return { replayed, hasMore: false, next: null };
      }
      if (replayed + PAGE_ROWS > limit || pages === MOST_PAGES) return { replayed, hasMore: true, next: place };
    }
  }
}

function isWithin({ time }: PublicEvent, { since, until }: TimeRange): boolean {
  return time >= since && time <= until;
}

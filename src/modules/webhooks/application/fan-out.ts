import { Injectable } from '@nestjs/common';
import { inSlices } from '../../../kernel/in-slices.js';
import { type Tx, UnitOfWork } from '../../../kernel/unit-of-work.js';
import { EventReader } from '../../events/index.js';
import { FanOutLog } from '../domain/fan-out-log.js';
import { wants } from '../domain/webhook-endpoint.js';

/** Rows of the event log in one database transaction. */
const PAGE_ROWS = 500;
/** Deliveries in one statement, which has to end within `database.statementTimeout`. */
const SLICE = 5_000;

export interface FannedOut {
  /** Nobody subscribes, or another node is at it. */
  readonly isIdle: boolean;
  readonly deliveries: number;
  readonly hasMore: boolean;
  /** See {@link EventPage.isHeldBack}. */
  readonly isHeldBack: boolean;
}

const IDLE: FannedOut = { isIdle: true, deliveries: 0, hasMore: false, isHeldBack: false };

/** Turns the next events of the log into deliveries, each exactly once: they are committed together with the place up to which it has read. */
@Injectable()
export class FanOut {
  constructor(
    private readonly work: UnitOfWork,
    private readonly events: EventReader,
    private readonly log: FanOutLog,
  ) {}

  async execute(): Promise<FannedOut> {
    return (await this.log.skipUnheard()) ? this.work.run((tx) => this.nextPage(tx)) : IDLE;
  }

  private async nextPage(tx: Tx): Promise<FannedOut> {
    const place = await this.log.place(tx);
    if (place === null) return IDLE;
    const page = await this.events.pageIn(tx, place, PAGE_ROWS);
    // After the page: an endpoint that is created between the two gets what was committed after it.
    const subscribers = await this.log.subscribers(tx);
    const matches = page.events.flatMap((event) =>
      subscribers.filter((one) => wants(one, event)).map(({ id }) => ({ event, endpointId: id })),
    );
    for (const slice of inSlices(matches, SLICE)) await this.log.insert(tx, slice);
    if (page.next !== place) await this.log.moveTo(tx, page.next);
    const { hasMore, isHeldBack } = page;
    return { isIdle: false, deliveries: matches.length, hasMore, isHeldBack };
  }
}

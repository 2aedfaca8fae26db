import { Injectable } from '@nestjs/common';
import { ReadDatabase } from '../../../platform/database/pools.js';
import { EventTimes } from '../application/event-times.js';
import { type EventPosition, LOG_BEGINNING } from '../domain/event-position.js';

const ENDS = {
  name: 'event_ends',
  text: `
    SELECT (SELECT e.xid FROM tx_event e ORDER BY e.xid, e.seq LIMIT 1)::text AS first,
           (SELECT e.xid FROM tx_event e ORDER BY e.xid DESC, e.seq DESC LIMIT 1)::text AS last`,
};

const FROM = {
  name: 'event_from',
  text: `SELECT e.created_at < $2 AS is_before FROM tx_event e WHERE e.xid >= $1::text::xid8 ORDER BY e.xid, e.seq LIMIT 1`,
};

/** By bisection: ids of database transactions grow with time, and the log is read by them. About 40 looks into its index. */
@Injectable()
export class PgEventTimes extends EventTimes {
  constructor(private readonly database: ReadDatabase) {
    super();
  }

  async before(time: Date): Promise<EventPosition> {
    const [ends] = (await this.database.query<{ first: string | null; last: string | null }>(ENDS, [])).rows;
    if (ends?.first == null || ends.last == null) return LOG_BEGINNING;
    // The first event at or above `low` is before the time, or `low` is the beginning.
    let [low, high] = [BigInt(ends.first), BigInt(ends.last) + 1n];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (await this.isBefore(middle, time)) low = middle;
      else high = middle;
    }
    return { ...LOG_BEGINNING, xid: low };
  }

  /** Whether the first event at or above `xid` is. */
  private async isBefore(xid: bigint, time: Date): Promise<boolean> {
    const { rows } = await this.database.query<{ is_before: boolean }>(FROM, [xid.toString(), time]);
    return rows[0]?.is_before ?? false;
  }
}

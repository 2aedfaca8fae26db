import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { behindRow, type EventPosition } from '../../events/index.js';
import { FeedCursor, type FeedLag } from '../domain/feed-cursor.js';

const BEGIN = {
  name: 'broker_begin',
  text: `INSERT INTO event_reader (name, xid, seq) VALUES ('broker', $1::text::xid8, $2) ON CONFLICT (name) DO NOTHING`,
};

const HAS_BEGUN = { name: 'broker_has_begun', text: `SELECT FROM event_reader WHERE name = 'broker'` };

/** When two nodes claim at once, the second waits for the row, and then finds the claim of the first. */
const CLAIM = {
  name: 'broker_claim',
  text: `
    UPDATE event_reader
       SET claimed_by = $1, claimed_until = clock_timestamp() + $2 * interval '1 millisecond', updated_at = clock_timestamp()
     WHERE name = 'broker' AND (claimed_by IS NULL OR claimed_by = $1 OR claimed_until <= clock_timestamp())
    RETURNING xid::text AS xid, seq`,
};

/**
 * A claim that ran out, and that nobody has taken, still counts: what was published is published. Only from the place behind which it was read:
 * a failover may have set the place back, or a person.
 */
const MOVE = {
  name: 'broker_move',
  text: `
    UPDATE event_reader SET xid = $2::text::xid8, seq = $3, updated_at = clock_timestamp()
     WHERE name = 'broker' AND claimed_by = $1 AND (xid, seq) = ($4::text::xid8, $5::bigint) AND (xid, seq) < ($2::text::xid8, $3::bigint)`,
};

const RELEASE = {
  name: 'broker_release',
  text: `UPDATE event_reader SET claimed_by = NULL, claimed_until = NULL WHERE name = 'broker' AND claimed_by = $1`,
};

/** Three looks into indexes. Numbers of rows are given out in their order, so a difference is about a count. */
const LAG = {
  name: 'broker_lag',
  text: `
    SELECT (SELECT e.seq FROM tx_event e ORDER BY e.xid DESC, e.seq DESC LIMIT 1) - r.seq AS rows,
           (SELECT extract(epoch FROM clock_timestamp() - e.created_at)::float8 FROM tx_event e
             WHERE (e.xid, e.seq) > (r.xid, r.seq) ORDER BY e.xid, e.seq LIMIT 1) AS seconds
      FROM event_reader r WHERE r.name = 'broker'`,
};

@Injectable()
export class PgFeedCursor extends FeedCursor {
  constructor(private readonly database: Database) {
    super();
  }

  async begin({ xid, seq }: EventPosition): Promise<void> {
    await this.database.query(BEGIN, [xid.toString(), seq]);
  }

  async hasBegun(): Promise<boolean> {
    return (await this.database.query(HAS_BEGUN, [])).rows.length > 0;
  }

  async claim(nodeId: string, durationMs: number): Promise<EventPosition | null> {
    const { rows } = await this.database.query<{ xid: string; seq: string }>(CLAIM, [nodeId, durationMs]);
    const [row] = rows;
    return row === undefined ? null : behindRow(row.xid, row.seq);
  }

  async move(nodeId: string, from: EventPosition, to: EventPosition): Promise<boolean> {
    const values = [nodeId, to.xid.toString(), to.seq, from.xid.toString(), from.seq];
    return (await this.database.query(MOVE, values)).rowCount === 1;
  }

  async release(nodeId: string): Promise<void> {
    await this.database.query(RELEASE, [nodeId]);
  }

  async lag(): Promise<FeedLag> {
    const { rows } = await this.database.query<{ rows: string | null; seconds: number | null }>(LAG, []);
    const [row] = rows;
    if (row?.seconds == null) return { rows: 0, seconds: 0 };
    return { rows: Math.max(1, Number(row.rows)), seconds: row.seconds };
  }
}

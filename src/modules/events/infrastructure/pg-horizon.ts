import { Injectable } from '@nestjs/common';
import { ReadDatabase } from '../../../platform/database/pools.js';

/**
 * A log that was restored into another database cluster has ids of database transactions that this cluster has not given out yet. No snapshot
 * sees such a row otherwise.
 */
const LOG = {
  name: 'event_horizon',
  text: `
    SELECT (SELECT extract(epoch FROM clock_timestamp() - e.created_at)::float8 FROM tx_event e
             WHERE e.xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid, e.seq LIMIT 1) AS held_back_seconds,
           (SELECT n.xid >= pg_snapshot_xmax(pg_current_snapshot()) FROM tx_event n ORDER BY n.xid DESC, n.seq DESC LIMIT 1) AS is_foreign`,
};

/** Ids of database transactions are those of the whole server, so a session of any database holds readers back. */
const OLDEST_WRITER = {
  name: 'event_oldest_writer',
  text: `
    SELECT w.pid, w.gid, w.application, w.database, w.state, w.since
      FROM (SELECT a.pid, NULL AS gid, a.application_name AS application, a.datname AS database, a.state, a.xact_start AS since, a.backend_xid AS xid
              FROM pg_stat_activity a WHERE a.backend_xid IS NOT NULL
             UNION ALL
            SELECT NULL, p.gid, NULL, p.database, 'prepared', p.prepared, p.transaction FROM pg_prepared_xacts p) w
     ORDER BY age(w.xid) DESC LIMIT 1`,
};

/** Readers of the log and deliveries of webhooks are ordered by ids of database transactions, and an update of all rows is the only way to lower them. */
export const MEND_FOREIGN_LOG = `WITH readers AS (UPDATE event_reader r SET xid = '1', seq = coalesce((SELECT min(e.seq) - 1 FROM tx_event e WHERE (e.xid, e.seq) > (r.xid, r.seq)), r.seq)), deliveries AS (UPDATE webhook_delivery SET xid = '1') UPDATE tx_event SET xid = '1'`;

export interface HorizonState {
  /** Age of the oldest event that is committed and cannot be read yet; 0 without one. */
  readonly heldBackSeconds: number;
  readonly isForeignLog: boolean;
}

export interface OldestWriter {
  /** Null for a prepared transaction, which has a `gid`. */
  readonly pid: number | null;
  readonly gid: string | null;
  readonly application: string | null;
  readonly database: string | null;
  readonly state: string | null;
  readonly since: Date | null;
}

/** What keeps readers of the event log from going on. */
@Injectable()
export class PgHorizon {
  constructor(private readonly database: ReadDatabase) {}

  async state(): Promise<HorizonState> {
    const { rows } = await this.database.query<{ held_back_seconds: number | null; is_foreign: boolean | null }>(
      LOG,
      [],
    );
    return { heldBackSeconds: rows[0]?.held_back_seconds ?? 0, isForeignLog: rows[0]?.is_foreign ?? false };
  }

  /** @returns null when there is none, or when its role may not see it */
  async oldestWriter(): Promise<OldestWriter | null> {
    const { rows } = await this.database.query<OldestWriter>(OLDEST_WRITER, []);
    return rows[0] ?? null;
  }
}

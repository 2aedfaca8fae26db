import type { TxLog } from './tx-log.js';

/** What PostgreSQL has counted for one database, this reader's own statements taken off. */
export interface ServerCounts {
  /** Every statement, BEGIN and COMMIT too. */
  readonly statements: number;
  /** Every transaction, also those that only read. */
  readonly commits: number;
  /** Bytes; of the whole server, which has nothing else to do. */
  readonly wal: number;
}

/** Needs a server with `pg_stat_statements`. */
export async function serverCounts(log: TxLog): Promise<ServerCounts> {
  const own = log.statements;
  const [row] = await log.query<{ statements: string; commits: string; wal: string }>(
    `SELECT (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE dbid = d.datid)::text AS statements,
            d.xact_commit::text AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal
       FROM pg_stat_database d WHERE d.datname = current_database()`,
  );
  if (!row) throw new Error('PostgreSQL knows nothing of its own database');
  return {
    statements: Number(row.statements) - own,
    commits: Number(row.commits) - own,
    wal: Number(row.wal),
  };
}

import { faultsIn, int } from '../fault.js';

const SETTINGS = int('migration-settings');
const WATCH = int('database-watch');

const MIGRATIONS = faultsIn('platform/database/migrations.ts', SETTINGS, [
  {
    id: 'migration-lock-of-somebody-else',
    text: 'AND objid = $1 AND pid = pg_backend_pid() AND granted',
    becomes: 'AND objid = $1 AND pid <> pg_backend_pid() AND granted',
    why: 'a migration runs only while another node migrates',
  },
  {
    id: 'migration-alone-limits-statements',
    text: `runner.query('SET statement_timeout = 0')`,
    becomes: `runner.query('SET statement_timeout = 100')`,
    why: 'an index of a large table can never be built',
  },
  {
    id: 'migration-alone-limits-locks',
    text: `runner.query('SET lock_timeout = 0')`,
    becomes: `runner.query('SET lock_timeout = 100')`,
    why: 'an index can never be built while transactions run',
  },
  {
    id: 'migration-alone-keeps-statement-timeout',
    text: `'RESET statement_timeout'`,
    becomes: `'SET statement_timeout = 0'`,
    why: 'migrations after it keep tables locked for as long as they like',
  },
  {
    id: 'migration-alone-keeps-lock-timeout',
    text: `'RESET lock_timeout'`,
    becomes: `'SET lock_timeout = 0'`,
    why: 'migrations after it wait for locks, and every writer behind them',
  },
  {
    id: 'migration-large-with-statement-timeout',
    text: `await dataSource.query('SET statement_timeout = 0');`,
    becomes: `await dataSource.query('RESET statement_timeout');`,
    why: 'a migration that a person lets run is cut off',
  },
  {
    id: 'migration-pending-of-a-new-database',
    text: `SELECT to_regclass('migrations') IS NOT NULL AS known`,
    becomes: `SELECT to_regclass('migrations') IS NULL AS known`,
    why: 'a fresh database cannot be migrated',
    caughtBy: int('start-database'),
  },
  {
    id: 'migration-pending-all',
    text: `? await source.query('SELECT name FROM migrations') : []`,
    becomes: `? await source.query('SELECT name FROM migrations LIMIT 0') : []`,
    why: 'a start is refused for large tables although nothing is to be migrated',
  },
  {
    id: 'migration-lock-not-taken',
    text: 'SELECT pg_try_advisory_lock($1) AS taken',
    becomes: 'SELECT $1::bigint IS NOT NULL AS taken',
    why: 'nodes that start together migrate at the same time',
    caughtBy: int('integration/schema'),
  },
]);

const DATABASE = [
  ...faultsIn('platform/database/database.ts', int('integration/transaction'), [
    {
      id: 'transaction-repeatable-read',
      text: 'BEGIN ISOLATION LEVEL READ COMMITTED',
      becomes: 'BEGIN ISOLATION LEVEL REPEATABLE READ',
      why: 'a fenced write that waited for a takeover does not see it',
    },
    {
      id: 'transaction-commit-unanswered',
      text: `if (committed.command !== 'COMMIT') throw new CommitFailed();`,
      becomes: '',
      why: 'an aborted transaction counts as committed',
    },
    {
      id: 'transaction-never-commits',
      text: `client.query('COMMIT')`,
      becomes: `client.query('ROLLBACK')`,
      why: 'nothing is ever written',
    },
    {
      id: 'transaction-commits-failed-work',
      text: `client.query('ROLLBACK')`,
      becomes: `client.query('COMMIT')`,
      why: 'half of what failed is written',
    },
    {
      id: 'transaction-late-statements',
      text: `      tx.finish();
      const committed`,
      becomes: '      const committed',
      why: 'a statement that comes late is committed by itself, without the fence',
    },
  ]),
  ...faultsIn('platform/database/durable-commits.ts', int('integration/durability'), [
    {
      id: 'durable-lowers-remote-apply',
      text: `NOT IN ('on', 'remote_apply')`,
      becomes: `NOT IN ('on')`,
      why: 'a server that waits for its standby to apply waits no more',
    },
    {
      id: 'durable-not-raised-from-local',
      text: `NOT IN ('on', 'remote_apply')`,
      becomes: `IN ('off', 'remote_write')`,
      why: 'a failover loses what was answered as committed',
    },
  ]),
  ...faultsIn('platform/database/check-durability.ts', int('integration/durability'), [
    {
      id: 'durability-without-full-page-writes',
      text: `IN ('synchronous_commit', 'fsync', 'full_page_writes')`,
      becomes: `IN ('synchronous_commit', 'fsync')`,
      why: 'nobody is told that a crash of the server can lose commits',
    },
    {
      id: 'durability-without-synchronous-commit',
      text: `IN ('synchronous_commit', 'fsync', 'full_page_writes')`,
      becomes: `IN ('fsync', 'full_page_writes')`,
      why: 'a session that commits without the disk is let through',
    },
  ]),
  ...faultsIn('platform/database/large-tables.ts', WATCH, [
    {
      id: 'large-tables-of-any-schema',
      text: `WHERE c.relnamespace = 'public'::regnamespace AND c.relkind`,
      becomes: 'WHERE c.relkind',
      why: 'a start is refused because of a table that is not ours',
    },
    {
      id: 'large-tables-not-counted',
      text: 'CASE WHEN c.reltuples >= 0 THEN c.reltuples ELSE',
      becomes: 'CASE WHEN c.reltuples < 0 THEN c.reltuples ELSE',
      why: 'a large table is locked for minutes unasked',
    },
  ]),
  ...faultsIn('platform/database/session.ts', int('start-database'), [
    {
      id: 'session-standby-is-good',
      text: `pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS`,
      becomes: 'pg_is_in_recovery() AS',
      why: 'a node starts on a server that takes no writes',
    },
    {
      id: 'session-pooler-is-good',
      text: `current_setting('enable_seqscan') = 'off' AS`,
      becomes: `current_setting('enable_seqscan') IS NOT NULL AS`,
      why: 'a pooler that drops session settings goes unnoticed',
    },
  ]),
  ...faultsIn('platform/database/schema-dump.ts', int('integration/schema'), [
    {
      id: 'schema-dump-without-not-null',
      text: `CASE WHEN a.attnotnull THEN ' not null' ELSE '' END`,
      becomes: `CASE WHEN a.attnotnull THEN '' ELSE '' END`,
      why: 'a column that may be null is no change of the schema',
    },
  ]),
];

const WATCHING = [
  ...faultsIn('platform/database/database-watch.ts', WATCH, [
    {
      id: 'database-oldest-epoch',
      text: 'FROM database_epoch ORDER BY epoch DESC LIMIT 1',
      becomes: 'FROM database_epoch ORDER BY epoch LIMIT 1',
      why: 'after one failover each look opens an epoch',
    },
    {
      id: 'database-see-wrong-timeline',
      text: 'left(pg_walfile_name(l.flushed), 8)',
      becomes: 'right(pg_walfile_name(l.flushed), 8)',
      why: 'each new segment of the log looks like a failover',
    },
    {
      id: 'database-see-any-epoch',
      text: 'NULL AS flushed FROM (SELECT 1) s ${NEWEST_EPOCH}`',
      becomes: 'NULL AS flushed FROM (SELECT 1) s LEFT JOIN database_epoch e ON e.epoch = 1`',
      why: 'a new epoch of another node goes unnoticed where the server says nothing of itself',
    },
    {
      id: 'database-open-epoch-swaps-evidence-and-node',
      text: 'SELECT $1::bigint + 1, $2, $3, $4, $5 WHERE',
      becomes: 'SELECT $1::bigint + 1, $2, $3, $5, $4 WHERE',
      why: 'nobody knows why an epoch began',
    },
  ]),
  ...faultsIn('platform/database/pending-migrations.ts', WATCH, [
    {
      id: 'pending-migrations-none',
      text: 'SELECT name FROM migrations`',
      becomes: 'SELECT name FROM migrations WHERE false`',
      why: 'a node that is ready says that it is not',
    },
  ]),
  ...faultsIn('modules/ops/infrastructure/readiness-probes.ts', int('readiness'), [
    {
      id: 'ready-ping-needs-a-table',
      text: `text: 'SELECT 1'`,
      becomes: `text: 'SELECT FROM ready'`,
      why: 'a node that is ready says that it is not',
    },
    {
      id: 'ready-despite-pending-migrations',
      text: 'return pending.length === 0 ? null',
      becomes: 'return pending.length >= 0 ? null',
      why: 'a node on an old schema takes requests',
    },
  ]),
];

const LISTENER = faultsIn('platform/database/listener.ts', int('doorbell'), [
  {
    id: 'doorbell-listens-elsewhere',
    text: 'LISTEN ${this.channel.name}',
    becomes: 'LISTEN ${this.channel.name}s',
    why: 'each create waits for the next polling',
  },
]);

const DOORBELL = faultsIn('modules/transactions/infrastructure/pg-doorbell.ts', int('doorbell'), [
  {
    id: 'doorbell-on-another-channel',
    text: `SELECT pg_notify('\${CHANNEL.name}', $1)`,
    becomes: `SELECT pg_notify('\${CHANNEL.name}s', $1)`,
    why: 'each create waits for the next polling',
  },
  {
    id: 'doorbell-wakes-all',
    text: 'this.lanes.wake(signers.filter((signer) => this.leases.isOurs(signer)));',
    becomes: 'this.lanes.wake(signers);',
    why: 'each bell wakes lanes of every node',
  },
]);

/** The database itself, and what is told through it. */
export const PLATFORM = [...MIGRATIONS, ...DATABASE, ...WATCHING, ...LISTENER, ...DOORBELL];

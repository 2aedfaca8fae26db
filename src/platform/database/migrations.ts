import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { InvariantViolation, Unavailable, Unprocessable } from '../../kernel/errors.js';
import type { Database } from './database.js';
import { sqlState } from './database-errors.js';
import { DURABLE_POOL } from './durable-commits.js';

/** By a name of package.json (`imports`): this code is in `src/`, and in the bundles of `dist/`. */
export const SCHEMA_FILE = createRequire(import.meta.url).resolve('#migrations/schema.txt');
const DIRECTORY = dirname(SCHEMA_FILE);
const APPLIED = { name: 'migrations_applied', text: `SELECT name FROM migrations` };
/** Any fixed number: nodes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_250_315;
/** SQLSTATE of a statement that `statement_timeout` ended. */
const TIMED_OUT = '57014';
const TRY_LOCK_EVERY_MS = 100;
/**
 * First words of a file whose statements run one by one, outside a transaction and without a time-out: PostgreSQL requires this for CREATE
 * INDEX CONCURRENTLY, and other sessions do not wait for it. Such a file must be repeatable after it stopped half-way.
 */
const ALONE = '-- outside a transaction';

type MigrationClass = new () => MigrationInterface;

export interface MigrationOptions {
  /** Milliseconds to wait for the lock of a table; running nodes queue behind it meanwhile. */
  readonly lockTimeout: number;
  /** Milliseconds for one statement, and to wait for another node that runs migrations. */
  readonly migrationTimeout: number;
  /** Where the SQL files are; `migrations/` by default. */
  readonly directory?: string;
}

const DEFAULTS: MigrationOptions = { lockTimeout: 3_000, migrationTimeout: 60_000 };

/** The SQL files as TypeORM migrations: `<timestamp>-<name>.up.sql` and its `.down.sql`. */
export function migrationClasses(directory = DIRECTORY): MigrationClass[] {
  return migrationFiles(directory).map((base) => migrationClass(join(directory, base), nameOf(base)));
}

/** Names of the migrations, as TypeORM stores them. */
export function migrationNames(): string[] {
  return migrationFiles(DIRECTORY).map(nameOf);
}

function migrationFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.up.sql'))
    .sort()
    .map((file) => file.slice(0, -'.up.sql'.length));
}

function migrationClass(path: string, name: string): MigrationClass {
  const up = readFileSync(`${path}.up.sql`, 'utf8');
  const down = readFileSync(`${path}.down.sql`, 'utf8');
  return class implements MigrationInterface {
    readonly name = name;
    readonly transaction = !up.startsWith(ALONE);
    up = (runner: QueryRunner): Promise<void> => execute(runner, up);
    down = (runner: QueryRunner): Promise<void> => execute(runner, down);
  };
}

/** TypeORM reads the order from the digits at the end of the name. */
function nameOf(base: string): string {
  const [timestamp = '', ...words] = base.split('-');
  return `${words.join('_')}${timestamp}`;
}

/** Checks the lock first, because it belongs to a session: if the connection was replaced, another node could migrate at the same time. */
async function execute(runner: QueryRunner, sql: string): Promise<void> {
  const held = (await runner.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND pid = pg_backend_pid() AND granted`,
    [MIGRATION_LOCK],
  )) as unknown[];
  if (held.length === 0) throw new InvariantViolation('a migration was about to run without the migration lock');
  if (sql.startsWith(ALONE)) await executeAlone(runner, sql);
  else await runner.query(sql);
}

async function executeAlone(runner: QueryRunner, sql: string): Promise<void> {
  await runner.query('SET statement_timeout = 0');
  await runner.query('SET lock_timeout = 0');
  for (const statement of sql.split(/;\n/).filter((text) => text.trim() !== '')) await runner.query(statement);
  await runner.query('RESET statement_timeout');
  await runner.query('RESET lock_timeout');
}

/**
 * Brings the schema up to date. Safe to run on every node at once.
 * @throws Unprocessable `migration_too_slow`
 * @throws Unavailable when another node runs migrations for longer than `migrationTimeout`
 */
export async function runMigrations(url: string, options: MigrationOptions = DEFAULTS): Promise<void> {
  await withMigrations(url, options, async (dataSource) => {
    try {
      await dataSource.runMigrations({ transaction: 'each' });
    } catch (error) {
      throw sqlState(error) === TIMED_OUT ? tooSlow(options) : error;
    }
  });
}

/** Not retryable: each retry would lock its table for the same time again. */
function tooSlow({ migrationTimeout }: MigrationOptions): Unprocessable {
  return new Unprocessable(
    'migration_too_slow',
    `a statement of a migration took longer than ${migrationTimeout}ms; it was undone`,
    'start one node with a longer LOCKSTEP_DATABASE_MIGRATION_TIMEOUT',
  );
}

/** Undoes the newest migrations, newest first; all of them by default. */
export async function revertMigrations(
  url: string,
  options: MigrationOptions = DEFAULTS,
  count = Infinity,
): Promise<void> {
  await withMigrations(url, options, async (dataSource) => {
    // TypeORM reads `transaction` of a migration only when it applies it.
    for (const Migration of migrationClasses(options.directory).reverse().slice(0, count))
      await dataSource.undoLastMigration({ transaction: new Migration().transaction === false ? 'none' : 'each' });
  });
}

/** Uses one connection, so that all statements run in the session that holds the lock; the lock ends with the connection. */
async function withMigrations(
  url: string,
  { lockTimeout, migrationTimeout, directory }: MigrationOptions,
  work: (dataSource: DataSource) => Promise<void>,
): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    migrations: migrationClasses(directory),
    applicationName: 'lockstep-migrations',
    // Silent unless DEBUG is set: the default logger writes lines that are not JSON.
    logger: 'debug',
    extra: {
      ...DURABLE_POOL,
      max: 1,
      idleTimeoutMillis: 0,
      lock_timeout: lockTimeout,
      statement_timeout: migrationTimeout,
      // A node that hangs between two statements must not keep its locks, nor hold back readers of events.
      idle_in_transaction_session_timeout: migrationTimeout,
      connectionTimeoutMillis: migrationTimeout,
    },
    poolErrorHandler: () => undefined,
  });
  await dataSource.initialize();
  try {
    await takeLock(dataSource, migrationTimeout);
    await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Polls for the lock: a session that waits for a lock would be ended by its own time-outs. */
async function takeLock(source: DataSource, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const [answer]: { taken: boolean }[] = await source.query('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ]);
    if (answer?.taken === true) return;
    if (performance.now() > deadline) throw new Unavailable('migrating', 'another node runs migrations', 'wait for it');
    await sleep(TRY_LOCK_EVERY_MS);
  }
}

/** Migrations of this build that are not applied to the database yet. */
export async function pendingMigrations(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(APPLIED, []);
  const applied = new Set(rows.map((row) => row.name));
  return migrationNames().filter((name) => !applied.has(name));
}

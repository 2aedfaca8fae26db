import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import {
  type MigrationOptions,
  migrationNames,
  revertMigrations,
  runMigrations,
} from '../../src/platform/database/migrations.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

let database: TestDatabase;
let session: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  session = new Client({ connectionString: database.url });
  await session.connect();
});
afterEach(async () => {
  await session.end();
  await database.drop();
});

/** The newest migration. */
const NEWEST = 1;

/** How many migrations there are from the one whose name begins so. */
const since = (start: string): number =>
  migrationNames().length - migrationNames().findIndex((name) => name.startsWith(start));
const OPTIONS: MigrationOptions = { lockTimeout: 2_345, migrationTimeout: 54_321, largeMigrations: 'refuse' };

/** Notes under which time-outs each migration is recorded, by the session that ran it. */
const NOTE_SETTINGS = `
  CREATE TABLE seen (statement text, lock text);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO seen SELECT current_setting('statement_timeout'), current_setting('lock_timeout'); RETURN NULL; END $$;
  CREATE TRIGGER noted AFTER INSERT ON migrations FOR EACH ROW EXECUTE FUNCTION note()`;

async function seen(): Promise<unknown[]> {
  return (await session.query('SELECT statement, lock FROM seen ORDER BY ctid')).rows;
}

it('an index that is built outside a transaction takes longer than a statement may, and waits longer for locks', async () => {
  await revertMigrations(database.url, since('parked'));
  await session.query(`
    CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS
      $$ BEGIN IF current_query() LIKE '%CONCURRENTLY%' THEN PERFORM pg_sleep(0.3); END IF; END $$;
    CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION slow()`);
  await session.query('BEGIN');
  await session.query('LOCK TABLE managed_tx IN ROW EXCLUSIVE MODE');
  const running = runMigrations(database.url, { ...OPTIONS, lockTimeout: 50, migrationTimeout: 200 });
  running.catch(() => undefined);
  const looker = new Client({ connectionString: database.url });
  await looker.connect();
  const waitsLong = `
    SELECT FROM pg_locks WHERE NOT granted AND waitstart < clock_timestamp() - interval '200 ms'
       AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`;
  const ended = running.then(
    () => true,
    () => true,
  );
  await Promise.race([ended, until('it waits', async () => (await looker.query(waitsLong)).rows.length > 0)]);
  await looker.end();
  await session.query('COMMIT');
  await running;
  const { rows } = await session.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  expect(rows.map(({ name }) => name)).toEqual(migrationNames());
});

it('what comes after it has its time-outs again', async () => {
  await revertMigrations(database.url, NEWEST);
  await session.query(NOTE_SETTINGS);
  await runMigrations(database.url, OPTIONS);
  expect(await seen()).toEqual([{ statement: '54321ms', lock: '2345ms' }]);
});

it('migrations of large tables that a person lets run take as long as they must', async () => {
  await revertMigrations(database.url, since('attempt_keys'));
  await session.query(NOTE_SETTINGS);
  await session.query(`UPDATE pg_class SET reltuples = 12000000 WHERE relname = 'tx_attempt'`);
  await runMigrations(database.url, { ...OPTIONS, largeMigrations: 'run' });
  expect((await seen())[0]).toEqual({ statement: '0', lock: '2345ms' });
});

it('a large table is no reason to refuse a start where nothing is to be migrated', async () => {
  await session.query(`UPDATE pg_class SET reltuples = 12000000 WHERE relname = 'tx_attempt'`);
  await runMigrations(database.url, OPTIONS);
});

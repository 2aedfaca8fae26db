import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type MigrationOptions, revertMigrations, runMigrations } from '../../src/platform/database/migrations.js';
import { describeSchema } from '../../src/platform/database/schema-dump.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

let database: TestDatabase;
let session: Client;
let options: MigrationOptions & { readonly directory: string };
let files: number;

beforeEach(async () => {
  database = await createEmptyDatabase();
  session = new Client({ connectionString: database.url });
  await session.connect();
  const directory = mkdtempSync(join(tmpdir(), 'lockstep-migrations-'));
  options = { lockTimeout: 2_345, migrationTimeout: 54_321, directory };
  files = 0;
  add('CREATE TABLE thing (n int);\n', 'DROP TABLE thing;\n');
  await runMigrations(database.url, options);
});
afterEach(async () => {
  await session.end();
  await database.drop();
  rmSync(options.directory, { recursive: true });
});

/** A later migration, after those that are there. */
function add(up: string, down: string): void {
  const base = join(options.directory, `${1_000_000_000_000 + ++files}-step`);
  writeFileSync(`${base}.up.sql`, up);
  writeFileSync(`${base}.down.sql`, down);
}

function addIndex(): void {
  add(
    `-- outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS thing_n;\nCREATE INDEX CONCURRENTLY thing_n ON thing (n);\n`,
    `-- outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS thing_n;\n`,
  );
}

it('an index that is built outside a transaction takes longer than a statement may, and waits longer for locks', async () => {
  addIndex();
  await session.query(`
    CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS
      $$ BEGIN IF current_query() LIKE '%CONCURRENTLY%' THEN PERFORM pg_sleep(0.3); END IF; END $$;
    CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION slow()`);
  await session.query('BEGIN');
  await session.query('LOCK TABLE thing IN ROW EXCLUSIVE MODE');
  const running = runMigrations(database.url, { ...options, lockTimeout: 50, migrationTimeout: 200 });
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
  expect(await describeSchema(database.url)).toContain('index CREATE INDEX thing_n ON');
});

it('what comes after it has its time-outs again', async () => {
  addIndex();
  add('ALTER TABLE thing ADD COLUMN m int;\n', 'ALTER TABLE thing DROP COLUMN m;\n');
  // Notes under which time-outs each migration is recorded, by the session that ran it.
  await session.query(`
    CREATE TABLE seen (statement text, lock text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO seen SELECT current_setting('statement_timeout'), current_setting('lock_timeout'); RETURN NULL; END $$;
    CREATE TRIGGER noted AFTER INSERT ON migrations FOR EACH ROW EXECUTE FUNCTION note()`);
  await runMigrations(database.url, options);
  const { rows } = await session.query('SELECT statement, lock FROM seen');
  expect(rows).toEqual([1, 2].map(() => ({ statement: '54321ms', lock: '2345ms' })));
});

it('the newest goes down alone, outside a transaction when it came so, and the rows that were there stay', async () => {
  const before = await describeSchema(database.url);
  await session.query('INSERT INTO thing VALUES (7)');
  addIndex();
  await runMigrations(database.url, options);
  await revertMigrations(database.url, options, 1);
  expect(await describeSchema(database.url)).toBe(before);
  expect((await session.query('SELECT n FROM thing')).rows).toEqual([{ n: 7 }]);
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DatabaseConfig } from '../../src/config/lockstep-config.js';
import { CheckDurability } from '../../src/platform/database/check-durability.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { runMigrations } from '../../src/platform/database/migrations.js';
import type { LogFields } from '../../src/platform/logging/log.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { readableLog } from '../unit/platform/log-lines.js';

let created: TestDatabase;
const opened: Database[] = [];

beforeEach(async () => (created = await createEmptyDatabase()));

afterEach(async () => {
  for (const database of opened.splice(0)) await database.dataSource.destroy();
  await created.drop();
});

async function asAdmin(sql: string): Promise<void> {
  const client = new Client({ connectionString: created.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** What the database gives to every session that does not ask for something else. */
function databaseSays(value: string): Promise<void> {
  return asAdmin(`ALTER DATABASE ${new URL(created.url).pathname.slice(1)} SET synchronous_commit = ${value}`);
}

async function open(overrides: Partial<DatabaseConfig> = {}): Promise<{ database: Database; config: DatabaseConfig }> {
  const config = Object.assign(new DatabaseConfig(), { url: created.url, poolSize: 2 }, overrides);
  const database = new Database(await createDataSource(config).initialize());
  opened.push(database);
  return { database, config };
}

async function show(database: Database, setting: string): Promise<unknown> {
  const { rows } = await database.query({ name: `show_${setting}`, text: `SHOW ${setting}` }, []);
  return rows[0]?.[setting];
}

/** @returns the lines of the log */
async function check(overrides: Partial<DatabaseConfig> = {}): Promise<LogFields[]> {
  const { database, config } = await open(overrides);
  const { log, lines } = readableLog();
  await new CheckDurability(database, config, log).onModuleInit();
  return lines;
}

describe('synchronous_commit', () => {
  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('is, where the database says %s, %s in every session', async (said, seen) => {
    await databaseSays(said);
    const { database } = await open();
    expect(await show(database, 'synchronous_commit')).toBe(seen);
  });

  it('is on for migrations, too', async () => {
    await databaseSays('off');
    await asAdmin(
      `CREATE TABLE seen (value text);
       CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO public.seen SELECT current_setting('synchronous_commit'); END $$;
       CREATE EVENT TRIGGER noted ON ddl_command_end EXECUTE FUNCTION note()`,
    );
    await runMigrations(created.url);
    const { database } = await open();
    const { rows } = await database.query({ name: 'seen', text: 'SELECT DISTINCT value FROM seen' }, []);
    expect(rows).toEqual([{ value: 'on' }]);
  });
});

describe('the check at start', () => {
  it('says as an error that the server may lose commits, and goes on', async () => {
    expect(await check()).toEqual([
      expect.objectContaining({ level: 'error', settings: ['fsync', 'full_page_writes'] }),
    ]);
  });

  it('refuses such a server when the config says so', async () => {
    await expect(check({ unsafeServer: 'refuse' })).rejects.toThrow(/fsync, full_page_writes/);
  });

  describe('of a database whose collation has another version than when its indexes were made', () => {
    beforeEach(async () => {
      await created.drop();
      created = await createEmptyDatabase(`LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'`);
    });
    const changed = () => asAdmin(`UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`);

    it('says it as an error with what to do, and goes on', async () => {
      await changed();
      const [, line] = await check();
      expect(line).toMatchObject({ level: 'error', recorded: '0', actual: '1' });
      expect(line?.['advice']).toMatch(/REINDEX DATABASE .* REFRESH COLLATION VERSION/);
    });

    it('refuses it when the config says so', async () => {
      await changed();
      await expect(check({ unsafeServer: 'refuse' })).rejects.toThrow(/fsync.*collation.*REFRESH/);
    });

    it('says nothing of one that has not changed', async () => {
      expect(await check()).toHaveLength(1);
    });
  });

  it('refuses connections on which synchronous_commit is off all the same', async () => {
    const { database, config } = await open({ poolSize: 1 });
    await database.query({ name: 'weaken', text: `SET synchronous_commit = off` }, []);
    const { log } = readableLog();
    await expect(new CheckDurability(database, config, log).onModuleInit()).rejects.toThrow(
      /synchronous_commit is off/,
    );
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DatabaseConfig } from '../../src/config/index.js';
import { describeSchema, recordedSchema } from '../../src/platform/database/schema-dump.js';
import { startDatabase } from '../../src/platform/database/start-database.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { readableLog } from '../unit/platform/log-lines.js';

let database: TestDatabase;
let wire: TcpProxy;
let session: Client;
const { log, lines } = readableLog();

beforeEach(async () => {
  lines.length = 0;
  database = await createEmptyDatabase();
  wire = await TcpProxy.listen(database.url);
  session = new Client({ connectionString: database.url });
  await session.connect();
});

afterEach(async () => {
  await session.end();
  await wire.stop();
  await database.drop();
});

function start(overrides: Partial<DatabaseConfig> = {}): Promise<void> {
  return startDatabase(Object.assign(new DatabaseConfig(), { url: wire.url, ...overrides }), log);
}

/** The reason of the first line that says that the start waits. */
async function waitingFor(): Promise<unknown> {
  await until('the log says that it waits', () => Promise.resolve(lines.length > 0));
  return lines[0]?.['reason'];
}

async function schemaIsThere(): Promise<void> {
  expect(await describeSchema(database.url)).toBe(recordedSchema());
}

describe('the start', () => {
  it('waits for a database that is down, says so in the log, and makes the schema when it is there', async () => {
    wire.set('cut');
    const started = start();
    expect(await waitingFor()).toMatch(/ECONNRESET|Connection terminated/);
    expect(lines[0]).toMatchObject({ msg: 'waiting for the database', seconds: 0, atMost: 300 });
    wire.heal();
    await started;
    await schemaIsThere();
  });

  it.each([
    { schema: 'has no schema yet', prepared: async () => undefined },
    { schema: 'needs nothing more', prepared: start },
  ])('waits for a standby until it takes writes, where it $schema', async ({ prepared }) => {
    await prepared();
    await readOnly('on');
    const started = start();
    expect(await waitingFor()).toContain('read-only');
    await readOnly('off');
    await started;
    await schemaIsThere();
  });

  it('gives up after its time-out, and says why', async () => {
    wire.set('cut');
    await expect(start({ startTimeout: 50 })).rejects.toThrow(
      /gave up waiting for the database: .*(ECONNRESET|terminated)/,
    );
  });

  it.each([
    ['a wrong password', (url: URL) => (url.password = 'wrong'), /password/],
    ['a database that does not exist', (url: URL) => (url.pathname = '/nowhere'), /nowhere/],
  ])('does not wait for %s', async (_case, spoil, words) => {
    const url = new URL(wire.url);
    spoil(url);
    await expect(start({ url: url.href })).rejects.toThrow(words);
    expect(lines).toEqual([]);
  });

  it('names a pooler that keeps the settings of a session from the server', async () => {
    // As it is when PgBouncer ignores the start-up parameter "options": the setting comes from elsewhere, or not at all.
    const url = new URL(wire.url);
    url.searchParams.set('options', '-c enable_seqscan=on');
    await expect(start({ url: url.href })).rejects.toMatchObject({ code: 'connection_pooler' });
  });
});

describe('migrations', () => {
  it('let go of a lock that another session has, so that those who wait behind go on, and try again', async () => {
    await session.query('BEGIN');
    await session.query('CREATE TABLE signer (n int)');
    const started = start();
    expect(await waitingFor()).toContain('lock timeout');
    await session.query('ROLLBACK');
    await started;
    await schemaIsThere();
  });

  it('that are too slow are not tried again, since each try locks its table', async () => {
    await session.query(`
      CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(10); END';
      CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE DOMAIN') EXECUTE FUNCTION slow();`);
    await expect(start({ migrationTimeout: 500 })).rejects.toMatchObject({ code: 'migration_too_slow' });
    expect(lines).toEqual([]);
  });
});

async function readOnly(value: 'on' | 'off'): Promise<void> {
  const { rows } = await session.query<{ name: string }>('SELECT current_database() AS name');
  await session.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_read_only = ${value}`);
}

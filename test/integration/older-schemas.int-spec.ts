import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrationFiles, revertMigrations, runMigrations } from '../../src/platform/database/migrations.js';
import { describeSchema, recordedSchema } from '../../src/platform/database/schema-dump.js';
import { OLD_ROWS, type OldRow } from '../support/old-rows.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const FILES = migrationFiles();
/** Each older schema, by the last migration that it has. */
const OLDER = FILES.slice(0, -1).map((newest, index) => ({ newest, migrations: index + 1 }));
/** What columns that came later say of older rows. */
const ADDED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  managed_tx: {
    confirmations: null,
    tries: 0,
    last_error: null,
    kind: 'payload',
    closing: null,
    replaces: null,
    replaced_by: null,
  },
  node: { key_set: null },
  tx_attempt: { tx_type: 2, max_fee_per_blob_gas: null, priced_at_block: null },
  signer_lease: { idle: false },
  signer: { paused_at: null, paused_by: null, pause_reason: null, balance_low_at: null },
  tx_event: { signer: null },
};

let database: TestDatabase;
let client: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await database.drop();
});

async function insert({ table, values }: OldRow): Promise<void> {
  const columns = Object.keys(values);
  const places = columns.map((_, index) => `$${index + 1}`);
  await client.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(values),
  );
}

/** All rows of a table, in an order of their own, as JSON says them. */
async function rowsOf(table: string): Promise<Readonly<Record<string, unknown>>[]> {
  const { rows } = await client.query<{ row: Record<string, unknown> }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`,
  );
  return rows.map(({ row }) => row);
}

it.each(OLDER)('rows of the schema that ends with $newest are the same in the newest', async ({ migrations }) => {
  await revertMigrations(database.url, FILES.length - migrations);
  const rows = OLD_ROWS.filter(({ since }) => since === undefined || FILES.indexOf(since) < migrations);
  for (const row of rows) await insert(row);
  const tables = [...new Set(rows.map(({ table }) => table))];
  const before = new Map<string, Readonly<Record<string, unknown>>[]>();
  for (const table of tables) before.set(table, await rowsOf(table));

  await runMigrations(database.url);

  expect(await describeSchema(database.url)).toBe(recordedSchema());
  for (const [table, old] of before) {
    const now = await rowsOf(table);
    expect(now).toHaveLength(old.length);
    expect(now).toEqual(expect.arrayContaining(old.map((row) => ({ ...ADDED[table], ...row }))));
  }
});

it('a write of a node that works, of attempts and then of txs, ends before the migration of fills, and neither is the victim of a deadlock', async () => {
  await revertMigrations(database.url, FILES.length - FILES.indexOf('1763712000017-fills'));
  await client.query('BEGIN');
  await client.query('UPDATE tx_attempt SET status = status');
  const migration = runMigrations(database.url).then(
    () => 'done',
    (error: unknown) => error,
  );
  await until('the migration waits for the attempts', async () => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.relation = 'tx_attempt'::regclass AND NOT l.granted`,
    );
    return rowCount === 1;
  });
  await client.query('UPDATE managed_tx SET state = state');
  await client.query('COMMIT');
  expect(await migration).toBe('done');
});

it('every table of the newest schema that holds rows of a client or of a signer is among those that are tried', async () => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE '%migration%'`,
  );
  expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(OLD_ROWS.map(({ table }) => table))].sort());
});

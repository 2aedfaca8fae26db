import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { revertMigrations, runMigrations } from '../../src/platform/database/migrations.js';
import { describeSchema, recordedSchema } from '../../src/platform/database/schema-dump.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('the schema', () => {
  it('is the one in migrations/schema.txt (npm run schema:dump writes it)', async () => {
    expect(await describeSchema(database.url)).toBe(recordedSchema());
  });

  it('has no index whose order is that of a library outside of PostgreSQL', async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT i.indexrelid::regclass::text AS index, k.id::regcollation::text AS "order"
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid AND c.relnamespace = 'public'::regnamespace,
              unnest(i.indcollation) AS k (id)
        WHERE k.id NOT IN (0, '"C"'::regcollation) ORDER BY 1`,
    );
    await client.end();
    expect(rows).toEqual([]);
  });

  it('goes away with the down migrations, and comes back the same', async () => {
    await revertMigrations(database.url);
    expect(await describeSchema(database.url)).toBe('\n');
    await runMigrations(database.url);
    expect(await describeSchema(database.url)).toBe(recordedSchema());
  });

  it('is migrated once when several nodes start together', async () => {
    await revertMigrations(database.url);
    await Promise.all([1, 2, 3].map(() => runMigrations(database.url)));
    expect(await describeSchema(database.url)).toBe(recordedSchema());
  });
});

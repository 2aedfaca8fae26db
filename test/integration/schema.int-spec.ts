import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

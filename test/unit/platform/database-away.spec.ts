import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Database } from '../../../src/platform/database/database.js';
import { DatabaseUnavailable } from '../../../src/platform/database/database-errors.js';

const STATEMENT = { name: 'test_any', text: 'SELECT' };

/** Its pool has no connection to give. */
function databaseAway(): Database {
  const refuse = () => Promise.reject(new Error('timeout exceeded when trying to connect'));
  const master = { on: () => undefined, connect: refuse, query: refuse };
  return new Database({ driver: { master } } as unknown as DataSource);
}

it.each([
  ['a statement', (database: Database) => database.query(STATEMENT, [])],
  ['a transaction', (database: Database) => database.transaction(async () => undefined)],
])('%s that gets no connection may be tried again', async (_what, work) => {
  await expect(work(databaseAway())).rejects.toBeInstanceOf(DatabaseUnavailable);
});

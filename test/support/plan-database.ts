import { afterEach, beforeEach } from '@jest/globals';
import { Client } from 'pg';
import { SESSION_OPTIONS } from '../../src/platform/database/session-settings.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** For each test of a file a database of its own, and a connection as the service has them. */
export function planDatabase(): { readonly client: Client } {
  let database: TestDatabase;
  let client: Client;
  beforeEach(async () => {
    database = await createTestDatabase();
    client = new Client({ connectionString: database.url, options: SESSION_OPTIONS });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });
  return {
    get client() {
      return client;
    },
  };
}

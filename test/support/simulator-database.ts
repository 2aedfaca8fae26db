import { afterAll } from '@jest/globals';
import { SimDatabase } from '../simulator/sim-database.js';
import { createTestDatabase } from './test-database.js';

/** A database for the seeds of one test file; it goes with the file. */
export async function simulatorDatabase(): Promise<SimDatabase> {
  const test = await createTestDatabase();
  const database = await SimDatabase.open(test.url);
  afterAll(async () => {
    await database.close();
    await test.drop();
  });
  return database;
}

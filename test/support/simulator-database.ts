import { afterAll } from '@jest/globals';
import { openSimulatorDatabase } from '../simulator/own-server.js';
import type { SimDatabase } from '../simulator/sim-database.js';

/** For the seeds of one test file; it goes with the file. */
export async function simulatorDatabase(): Promise<SimDatabase> {
  const { database, stop } = await openSimulatorDatabase();
  afterAll(stop);
  return database;
}

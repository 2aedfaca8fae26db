import { runMigrations } from '../../src/platform/database/migrations.js';
import { startScratchPostgres } from '../support/postgres.js';
import { createDatabase, databaseUrl } from '../support/test-database.js';
import { SimDatabase } from './sim-database.js';

const DATABASE = 'simulator';

/**
 * On a server of its own: an open transaction in any database of a server holds back all who read events there (`pg_snapshot_xmin`), and the simulator
 * counts the rounds until an event arrives.
 */
export async function openSimulatorDatabase(): Promise<{ database: SimDatabase; stop: () => Promise<void> }> {
  const server = await startScratchPostgres();
  const abandon = (): void => server.abandon();
  process.once('exit', abandon);
  await createDatabase(server.url, DATABASE);
  const url = databaseUrl(server.url, DATABASE);
  await runMigrations(url);
  const database = await SimDatabase.open(url);
  const stop = async (): Promise<void> => {
    await database.close();
    process.off('exit', abandon);
    await server.stop();
  };
  return { database, stop };
}

import { runMigrations } from '../../src/platform/database/migrations.js';
import { startScratchPostgres } from './postgres.js';
import { keepServer, takeServer, TEMPLATE_VARIABLE, SERVER_VARIABLE } from './shared-server.js';
import { createDatabase, databaseUrl } from './test-database.js';

const TEMPLATE = 'lockstep_template';

/** One server for the whole run, and in it a database that is migrated once and then only copied. */
export default async function globalSetup(): Promise<void> {
  // Jest runs this once for each suite of a run; the suites share the server.
  if (process.env[SERVER_VARIABLE] !== undefined) return;
  const server = await startScratchPostgres();
  keepServer(server);
  endWithJest();
  await createDatabase(server.url, TEMPLATE);
  await runMigrations(databaseUrl(server.url, TEMPLATE));
  // The workers, which are other processes, learn of it through their environment.
  process.env[SERVER_VARIABLE] = server.url;
  process.env[TEMPLATE_VARIABLE] = TEMPLATE;
}

/** Jest runs no teardown when it is interrupted or fails early, and the server is in a process group of its own. */
function endWithJest(): void {
  process.once('exit', () => takeServer()?.abandon());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

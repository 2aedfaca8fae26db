import { runMigrations } from '../../src/platform/database/migrations.js';
import { startAnvil } from './anvil.js';
import { Geth } from './geth.js';
import { NatsServer } from './nats-server.js';
import { startScratchPostgres } from './postgres.js';
import { keepServer, takeServer, TEMPLATE_VARIABLE, SERVER_VARIABLE } from './shared-server.js';
import { createDatabase, databaseUrl } from './test-database.js';

const TEMPLATE = 'lockstep_template';

/** What the tests of a suite start beside PostgreSQL. */
const PROGRAMS: Readonly<Record<string, () => Promise<{ stop(): Promise<void> }>>> = {
  int: startAnvil,
  e2e: startAnvil,
  chaos: startAnvil,
  geth: () => Geth.start(),
  nats: () => NatsServer.start(),
};

/**
 * One server for the whole run, and in it a database that is migrated once and then only copied. Each program is started here once, so that one that
 * is missing or does not work is told at once, and not by every test.
 */
export default async function globalSetup(_: unknown, suite: { displayName: { name: string } }): Promise<void> {
  await (await PROGRAMS[suite.displayName.name]?.())?.stop();
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

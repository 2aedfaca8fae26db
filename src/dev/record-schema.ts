import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMigrations } from '../platform/database/migrations.js';
import { describeSchema, recordSchema, SCHEMA_FILE } from '../platform/database/schema-dump.js';
import { startPostgres } from './embedded-postgres.js';
import { removeCluster } from './postgres-home.js';

/** `npm run schema:dump`: writes down the schema that the migrations make, for CI to compare with. */
const directory = await mkdtemp(join(tmpdir(), 'lockstep-schema-'));
const postgres = await startPostgres({ dataDir: directory, durable: false });
try {
  await runMigrations(postgres.url);
  recordSchema(await describeSchema(postgres.url));
  process.stdout.write(`wrote ${SCHEMA_FILE}\n`);
} finally {
  await postgres.stop();
  removeCluster(directory);
}

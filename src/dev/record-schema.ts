import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMigrations, SCHEMA_FILE } from '../platform/database/migrations.js';
import { describeSchema, recordSchema } from '../platform/database/schema-dump.js';
import { startPostgres } from './embedded-postgres.js';
import { removeCluster } from './postgres-home.js';

/** Runs `npm run schema:dump`: writes the schema that the migrations make to the file that CI compares. */
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningPostgres, startPostgres } from '../../src/dev/embedded-postgres.js';
import { removeCluster } from '../../src/dev/postgres-home.js';

export { type RunningPostgres, startPostgres };

/** A server of its own with nothing in it, for tests that stop, kill or restart one. Its data goes when it is stopped. */
export async function startScratchPostgres(): Promise<RunningPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lockstep-postgres-'));
  const server = await startPostgres({ dataDir, durable: false });
  return {
    ...server,
    async stop() {
      await server.stop();
      removeCluster(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

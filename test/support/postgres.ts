import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningPostgres, startPostgres } from '../../src/dev/embedded-postgres.js';
import { removeCluster } from '../../src/dev/postgres-home.js';

export { type RunningPostgres, startPostgres };

export interface ScratchPostgres extends RunningPostgres {
  /** For a process that is about to end and can wait for nothing. */
  abandon(): void;
}

/** A server of its own with nothing in it, for tests that stop, kill or restart one. Its data goes when it is stopped. */
export async function startScratchPostgres(): Promise<ScratchPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lockstep-postgres-'));
  const server = await startPostgres({ dataDir, durable: false });
  return {
    ...server,
    async stop() {
      await server.stop();
      removeCluster(dataDir);
    },
    abandon() {
      process.kill(server.pid, 'SIGQUIT');
      removeCluster(dataDir);
    },
  };
}

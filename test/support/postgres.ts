import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningPostgres, startPostgres } from '../../src/dev/embedded-postgres.js';
import { removeCluster } from '../../src/dev/postgres-home.js';

export { type RunningPostgres, startPostgres };

export interface ScratchPostgres extends RunningPostgres {
  /** For a process that is about to end and can wait for nothing. */
  abandon(): void;
}

/** A folder in memory, where Linux has one: some file systems take 300 ms for each database that is created, and this one 20. */
const MEMORY = '/dev/shm';
/** More than all servers of a run have at once. */
const ROOM_BYTES = 6 * 1024 ** 3;

/** A server of its own with nothing in it, for tests that stop, kill or restart one. Its data goes when it is stopped. */
export async function startScratchPostgres(): Promise<ScratchPostgres> {
  const dataDir = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'lockstep-postgres-'));
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

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
}

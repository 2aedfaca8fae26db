import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopLeftover } from './leftover.js';
import type { Log } from './log.js';
import { identify } from './process-identity.js';

/**
 * Stops the server that a killed launcher left running on this cluster. After a crash of the machine the pid in the file may belong to
 * another process, and PostgreSQL would refuse to start: then only deletes the file.
 */
export async function stopLeftoverPostgres(cluster: string, log: Log): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const pid = recordedPid(file);
  if (pid === null) return;
  const found = identify(pid);
  if (found?.mark.includes(cluster)) {
    log(`stopping PostgreSQL of an earlier run (pid ${String(pid)})`);
    await stopLeftover(found, 'SIGINT');
  }
  rmSync(file, { force: true });
}

function recordedPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

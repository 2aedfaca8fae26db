import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LaunchError } from './launch-error.js';
import type { Log } from './log.js';
import { claimOutsideHome, outsideHome } from './outside-home.js';
import { findPostgres, program, type PostgresBinaries } from './postgres-binaries.js';
import { canEnter, canExecute, type ServerUser, serverUser } from './server-user.js';

/** The paths and the user of a server. */
export interface PostgresHome {
  readonly binaries: PostgresBinaries;
  readonly user: ServerUser | null;
  /** The folder that `initdb` creates; does not exist before the first start. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly logFile: string;
}

/** Whether a database for `dataDir` exists, in the clone or outside it. */
export function hasCluster(dataDir: string): boolean {
  return existsSync(join(dataDir, 'cluster')) || existsSync(join(outsideData(dataDir), 'cluster'));
}

/** Removes the data for `dataDir`, in the clone or outside it. */
export function removeCluster(dataDir: string): void {
  // Retry, because a server that is stopping may still write.
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
  rmSync(dataDir, options);
  rmSync(outsideData(dataDir), options);
}

export async function preparePostgresHome(dataDir: string, log: Log): Promise<PostgresHome> {
  const installed = await findPostgres();
  const user = serverUser();
  mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  if (!user) return layOut(installed, null, dataDir);
  const binaries = canExecute(user, program(installed, 'initdb')) ? installed : copyBinaries(installed, user, log);
  return layOut(binaries, user, reachableData(dataDir, user, log));
}

function layOut(binaries: PostgresBinaries, user: ServerUser | null, dir: string): PostgresHome {
  return {
    binaries,
    user,
    cluster: join(dir, 'cluster'),
    passwordFile: join(dir, 'password'),
    logFile: join(dir, 'postgres.log'),
  };
}

function reachableData(dataDir: string, user: ServerUser, log: Log): string {
  chownSync(dataDir, user.uid, user.gid);
  if (canEnter(user, dataDir)) return dataDir;
  claimOutsideHome();
  const outside = outsideData(dataDir);
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  chownSync(outside, user.uid, user.gid);
  log(`user ${user.name}, which PostgreSQL runs as, cannot enter this clone: its data is kept in ${outside}`);
  return outside;
}

function outsideData(dataDir: string): string {
  return join(outsideHome(), `data-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`);
}

function copyBinaries(installed: PostgresBinaries, user: ServerUser, log: Log): PostgresBinaries {
  const home = join(claimOutsideHome(), `postgres-${installed.version}`);
  const copy = { home, version: installed.version };
  if (!existsSync(home)) {
    // Copy under another name first, so that an interrupted copy is never used.
    const partial = `${home}.${String(process.pid)}`;
    cpSync(installed.home, partial, { recursive: true, verbatimSymlinks: true });
    openToAll(partial);
    if (existsSync(home)) rmSync(partial, { recursive: true });
    else renameSync(partial, home);
    log(`user ${user.name} cannot run programs in this clone: copied PostgreSQL to ${home}`);
  }
  if (canExecute(user, program(copy, 'initdb'))) return copy;
  throw new LaunchError(`User ${user.name} cannot run PostgreSQL from ${home}; is that folder mounted noexec?`);
}

/** A clone made under a strict umask has files that only root can read. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, 0o755);
  }
}

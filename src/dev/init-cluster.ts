import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { PostgresHome } from './postgres-home.js';
import { program } from './postgres-binaries.js';

export const DATABASE = 'lockstep';
const SUPERUSER = 'lockstep';
/** Hashing and two more round trips, which every client repeats for each connection, keep a password from who listens. Nobody listens to a test. */
const FOR_TESTS = ['--no-sync', '--auth=password', '--set', 'scram_iterations=1'];

/** Creates the cluster on first use. It gets its final name only when it is complete. */
export async function initCluster(home: PostgresHome, durable: boolean): Promise<void> {
  if (existsSync(home.cluster)) return;
  const partial = `${home.cluster}.new`;
  rmSync(partial, { recursive: true, force: true });
  writePassword(home);
  await promisify(execFile)(program(home.binaries, 'initdb'), initArguments(partial, home, durable), {
    cwd: '/',
    env: serverEnvironment(),
    ...(home.user && { uid: home.user.uid, gid: home.user.gid }),
  });
  renameSync(partial, home.cluster);
}

export function urlOf(home: PostgresHome, port: number, database: string): string {
  const password = readFileSync(home.passwordFile, 'utf8').trim();
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${String(port)}/${database}`;
}

/** The user's PGPORT, PGDATA and locale must not affect our server. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/** Sets a password: without one, every local user could run programs as the server's user. */
function writePassword(home: PostgresHome): void {
  writeFileSync(home.passwordFile, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 });
  if (home.user) chownSync(home.passwordFile, home.user.uid, home.user.gid);
}

function initArguments(directory: string, home: PostgresHome, durable: boolean): string[] {
  const fixed = ['-D', directory, '-U', SUPERUSER, `--pwfile=${home.passwordFile}`];
  const chosen = durable ? ['--auth=scram-sha-256'] : FOR_TESTS;
  return [...fixed, '--encoding=UTF8', '--locale=C', '--no-instructions', ...chosen];
}

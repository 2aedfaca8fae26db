import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { LaunchError } from './launch-error.js';

/** The user that runs PostgreSQL, which refuses to run as root. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** @returns null when this process does not run as root: it then runs the server itself */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const user = unprivilegedUser(readFileSync('/etc/passwd', 'utf8'));
  if (user) return user;
  throw new LaunchError(
    'PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody to run it as.',
  );
}

/** `postgres` if it exists, otherwise `nobody`. */
export function unprivilegedUser(passwd: string): ServerUser | null {
  const users = passwd.split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find(([user]) => user === name) ?? [];
    if (uid !== undefined && gid !== undefined) return { name, uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

/** Tries the access, because permission bits do not show access lists and mount options. */
export function canExecute(user: ServerUser, file: string): boolean {
  return spawnSync(file, ['--version'], { uid: user.uid, gid: user.gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

export function canEnter(user: ServerUser, directory: string): boolean {
  const command = ['-c', 'test -x "$1"', 'sh', directory];
  return spawnSync('/bin/sh', command, { uid: user.uid, gid: user.gid, cwd: '/', stdio: 'ignore' }).status === 0;
}

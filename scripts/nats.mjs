import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/* Where `npm run ci` gets a nats-server from. Nothing else of the project needs one. */

const NAME = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
/** Debian puts it where the PATH of a user may not lead. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];
const INSTALL_TIMEOUT_MS = 5 * 60_000;

/** `NATS_SERVER_BIN`, then `PATH`, then where Debian puts it. @returns null when there is none */
export function findNatsServer() {
  const named = process.env.NATS_SERVER_BIN;
  if (named) return named;
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS].filter(Boolean);
  return folders.map((folder) => join(folder, NAME)).find((file) => existsSync(file)) ?? null;
}

/** Debian's package, where this process may install one. @returns null when that is not possible */
export function installNatsServer() {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return null;
  console.log('\nInstalling the package nats-server ...');
  if (!apt('install', '-y', '--no-install-recommends', 'nats-server')) {
    // The lists of packages may be old, or missing as in most images.
    if (!apt('update') || !apt('install', '-y', '--no-install-recommends', 'nats-server')) return null;
  }
  return findNatsServer();
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', ['-q', ...args], { env, stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS }).status === 0;
}

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from './bootstrap.mjs';

/* Where `npm run ci` gets a geth from. Nothing else of the project needs one. */

const PACKAGE = 'github.com/ethereum/go-ethereum/cmd/geth';
/** Pinned, so that a new release of geth does not turn CI red; the older one where a proxy of Go modules does not know the newer one. */
const VERSIONS = ['v1.17.10', 'v1.16.8'];
const INSTALL_TIMEOUT_MS = 15 * 60_000;
const NAME = process.platform === 'win32' ? 'geth.exe' : 'geth';
const OWN_FOLDER = join(ROOT, '.lockstep', 'bin');

/** `GETH_BIN`, then `PATH`, then where Go puts programs, then what was installed here before. @returns null when there is none */
export function findGeth() {
  const named = process.env.GETH_BIN;
  if (named) return named;
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...goFolders(), OWN_FOLDER].filter(Boolean);
  return folders.map((folder) => join(folder, NAME)).find((file) => existsSync(file)) ?? null;
}

/** Builds one with Go, in the folder of this clone that `npm run reset` deletes. @returns null when that is not possible */
export function installGeth() {
  if (goFolders().length === 0) return null;
  for (const version of VERSIONS) {
    console.log(`\nInstalling ${PACKAGE}@${version} ...`);
    const { status, signal } = spawnSync('go', ['install', `${PACKAGE}@${version}`], {
      env: { ...process.env, GOBIN: OWN_FOLDER },
      stdio: 'inherit',
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (status === 0) return join(OWN_FOLDER, NAME);
    if (signal !== null) return null;
  }
  return null;
}

/** Empty where there is no Go. */
function goFolders() {
  try {
    const [bin = '', path = ''] = execFileSync('go', ['env', 'GOBIN', 'GOPATH'], { stdio: 'pipe' })
      .toString()
      .split(/\r?\n/);
    return [bin, ...path.split(delimiter).map((folder) => folder && join(folder, 'bin'))].filter(Boolean);
  } catch {
    return [];
  }
}

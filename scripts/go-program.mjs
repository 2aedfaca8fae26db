import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './bootstrap.mjs';

/*
 * The programs that are built with Go, each at one version. A program that happens to be on the PATH is not taken: its version
 * would decide whether CI is green.
 */

const INSTALL_TIMEOUT_MS = 15 * 60_000;
const SUFFIX = process.platform === 'win32' ? '.exe' : '';

export const GETH = { variable: 'GETH_BIN', source: 'github.com/ethereum/go-ethereum/cmd/geth', version: 'v1.16.8' };
export const NATS_SERVER = {
  variable: 'NATS_SERVER_BIN',
  source: 'github.com/nats-io/nats-server/v2',
  name: 'nats-server',
  version: 'v2.11.10',
};
export const OASDIFF = { variable: 'OASDIFF_BIN', source: 'github.com/oasdiff/oasdiff', version: 'v1.37.0' };
/** Makes a client of the OpenAPI document. */
export const OAPI_CODEGEN = {
  variable: 'OAPI_CODEGEN_BIN',
  source: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen',
  version: 'v2.8.2',
};

/**
 * The one that the variable names, or the pinned one, which is built once in each clone (`npm run reset` deletes it).
 * @returns its path; null when there is no Go, or Go cannot get it
 */
export function goProgram({ variable, source, version, name = source.split('/').at(-1) }) {
  if (process.env[variable]) return process.env[variable];
  const folder = join(ROOT, '.lockstep', 'bin', version);
  const file = join(folder, name + SUFFIX);
  if (existsSync(file)) return file;
  console.log(`\nBuilding ${source}@${version} ...`);
  const { status } = spawnSync('go', ['install', `${source}@${version}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: 'inherit',
    timeout: INSTALL_TIMEOUT_MS,
  });
  return status === 0 ? file : null;
}

// Run by itself it builds those of `npm run ci`.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const program of [OASDIFF, GETH, NATS_SERVER]) goProgram(program);
}

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './bootstrap.mjs';

/* The programs of Python, with the versions of `python-requirements.txt`, in one venv, which is made once in each clone. */

const INSTALL_TIMEOUT_MS = 10 * 60_000;
const REQUIREMENTS = join(ROOT, 'scripts', 'python-requirements.txt');

export const SCHEMATHESIS = { variable: 'SCHEMATHESIS_BIN', name: 'schemathesis' };
/** Beside it are the Python that runs what it makes, and mypy. */
export const OPENAPI_PYTHON_CLIENT = { variable: 'OPENAPI_PYTHON_CLIENT_BIN', name: 'openapi-python-client' };

/**
 * The one that the variable names, or that of the venv (`npm run reset` deletes it).
 * @returns its path; null when there is no Python, or pip cannot install it
 */
export function pythonProgram({ variable, name }) {
  if (process.env[variable]) return process.env[variable];
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex');
  const venv = join(ROOT, '.lockstep', 'python', hash.slice(0, 8));
  const installed = join(venv, 'installed');
  if (!existsSync(installed)) {
    console.log('\nInstalling the programs of Python ...');
    rmSync(venv, { recursive: true, force: true });
    if (!run('python3', '-m', 'venv', venv)) return null;
    const pip = ['install', '-q', '--no-deps', '--no-compile', '--disable-pip-version-check', '-r', REQUIREMENTS];
    if (!run(join(venv, 'bin', 'pip'), ...pip)) return null;
    writeFileSync(installed, '');
  }
  return join(venv, 'bin', name);
}

function run(command, ...args) {
  return spawnSync(command, args, { stdio: 'inherit', timeout: INSTALL_TIMEOUT_MS }).status === 0;
}

// Run by itself it installs them.
if (process.argv[1] === fileURLToPath(import.meta.url)) pythonProgram(SCHEMATHESIS);

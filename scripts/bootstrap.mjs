import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/* Plain Node, no package: this runs before there is a node_modules. */

export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const NODE_NEEDED = [20, 19];
const INSTALLED = join(ROOT, 'node_modules', '.lockstep-lock-hash');
const BUILT = join(ROOT, 'dist', '.lockstep-source-hash');
/** Everything that decides what the build makes. */
const SOURCES = [
  'src',
  'package-lock.json',
  'package.json',
  '.swcrc',
  'nest-cli.json',
  'tsconfig.json',
  'scripts/bundle.mjs',
];

/**
 * Installs when node_modules is missing or does not hold what the lock file says. Not with `npm ci`: that one refuses a
 * lock file that lacks the optional packages of other platforms, as one does that was made where the registry has only
 * some of them. `npm install --no-save` takes the locked versions too, adds what this platform needs, and leaves the
 * lock file alone.
 */
export async function ensureInstalled() {
  requireNode();
  const abi = process.versions.modules;
  const wanted = `${abi} ${hashOf(['package-lock.json'])}`;
  const found = readIfThere(INSTALLED);
  if (found === wanted) return;
  // Native packages are built for one Node ABI, so after a change of Node the versions alone say nothing.
  const usable = (found === null || found.startsWith(`${abi} `)) && holdsLockedVersions();
  if (!usable)
    await step('Installing packages (about a minute)', () => npm(['install', '--no-save', '--no-audit', '--no-fund']));
  writeFileSync(INSTALLED, wanted);
}

/** `npm run build` when dist is missing or was made from other sources. */
export async function ensureBuilt() {
  const wanted = hashOf(SOURCES);
  if (readIfThere(BUILT) === wanted && existsSync(join(ROOT, 'dist', 'main.js'))) return;
  await step('Building', async () => {
    await run(process.execPath, [bin('@nestjs/cli', 'bin/nest.js'), 'build']);
    await run(process.execPath, [join(ROOT, 'scripts', 'bundle.mjs')]);
  });
  writeFileSync(BUILT, wanted);
}

/** The script of a package, run with this very Node: no shell and no .cmd files in between. */
export function bin(name, file) {
  return join(ROOT, 'node_modules', name, file);
}

async function step(title, work) {
  const start = performance.now();
  console.log(`${title} ...`);
  await work();
  console.log(`${title}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1])) return;
  console.error(`Lockstep needs Node ${NODE_NEEDED.join('.')} or later; this is ${process.versions.node}.`);
  process.exit(1);
}

/** An install by hand (`npm install`) leaves no mark of ours, but npm's own record of what it did. */
function holdsLockedVersions() {
  const record = readIfThere(join(ROOT, 'node_modules', '.package-lock.json'));
  if (record === null) return false;
  const installed = JSON.parse(record).packages;
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(locked).every(([path, { version, optional }]) => {
    // Optional packages for other platforms are rightly not there.
    return path === '' || installed[path]?.version === version || (optional && !installed[path]);
  });
}

function npm(args) {
  // Set when npm runs this script, and then it is the npm that the reader uses.
  const cli = process.env.npm_execpath;
  return cli?.endsWith('.js') ? run(process.execPath, [cli, ...args]) : run('npm', args);
}

/** A signal ends the child first, so that no install goes on behind a launcher that is gone. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit' });
  const forward = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  const words = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  for (const signal of SIGNALS) process.off(signal, forward);
  if (words === null) return;
  console.error(`\n${[command, ...args].join(' ')} failed: ${words}`);
  process.exit(1);
}

function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Of names and contents, because a checkout of an older commit makes files newer. */
function hashOf(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesOf))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0');
  return hash.digest('hex');
}

function filesOf(path) {
  if (!existsSync(join(ROOT, path))) return [];
  if (path.includes('.')) return [path];
  return readdirSync(join(ROOT, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

import { spawn } from 'node:child_process';
import { ROOT } from './bootstrap.mjs';
import { findGeth, installGeth } from './geth.mjs';
import { findNatsServer, installNatsServer } from './nats.mjs';

/* What `.ci/run` runs: `npm test` and what takes too long for it. A part that fails does not keep the others from running. */

/** Each is a command that a developer can run: the arguments of npm. */
const PARTS = [
  ['test'],
  ['run', 'lint:docker'],
  // Where Python is; elsewhere it says so.
  ['run', 'test:document'],
  ['run', 'test:chaos'],
  ['run', 'simulate', '--', '--seeds', '1000', '--coverage'],
  // Says nothing about speed: only that the benchmark runs still.
  ['run', 'bench', '--', '--only', '2', '--scale', '0.001', '--repetitions', '1'],
];

let current = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    current?.kill(signal);
    process.exitCode = 1;
    PARTS.length = 0;
  });
}

const done = [];
for (const args of [...PARTS]) if (PARTS.length > 0) done.push(await part(args));
const geth = PARTS.length > 0 ? (findGeth() ?? installGeth()) : null;
if (geth !== null) done.push(await part(['run', 'test:geth'], { GETH_BIN: geth }));
const nats = PARTS.length > 0 ? (findNatsServer() ?? installNatsServer()) : null;
if (nats !== null) done.push(await part(['run', 'test:nats'], { NATS_SERVER_BIN: nats }));
const minutes = (seconds) => `${(seconds / 60).toFixed(1)} min`;
const words = done.map(({ name, ok, seconds }) => `${name} ${ok ? 'ok' : 'FAILED'} (${minutes(seconds)})`);
if (geth === null)
  console.log('\nThe tests on geth did not run: there is no geth here (GETH_BIN, PATH), and none could be installed.');
if (nats === null)
  console.log(
    '\nThe tests on NATS did not run: there is no nats-server here (NATS_SERVER_BIN, PATH), and none could be installed.',
  );
const total = done.reduce((sum, { seconds }) => sum + seconds, 0);
const ok = process.exitCode !== 1 && done.every((one) => one.ok);
console.log(`\nCI ${ok ? 'ok' : 'FAILED'} in ${minutes(total)}: ${words.join(', ')}`);
process.exit(ok ? 0 : 1);

function part(args, env = {}) {
  const name = `npm ${args.join(' ')}`;
  console.log(`\n==== ${name}`);
  const start = performance.now();
  const cli = process.env.npm_execpath;
  const [command, before] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  current = spawn(command, [...before, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    const end = (ok) => resolve({ name, ok, seconds: (performance.now() - start) / 1000 });
    current.once('error', () => end(false));
    current.once('close', (code) => end(code === 0));
  });
}

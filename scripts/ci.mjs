import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bootstrap.mjs';
import { addReports, closeReport, newReport, reportingTo } from './report.mjs';

/*
 * What `.ci/run` runs: `npm test` and what takes too long for it. With `long` what takes too long for every landing (`npm run test:long`).
 * A part that fails does not keep the others from running.
 */

/** Each is a command that a developer can run: the arguments of npm. */
const SHORT = [
  // It installs, so nothing runs beside it.
  ['test'],
  ['run', 'lint:docker'],
  ['run', 'openapi:breaking'],
  // What `npm test` has run of it is left out.
  ['run', 'test:chaos', '--', '--testPathIgnorePatterns', 'chaos/smoke'],
  ['run', 'test:geth'],
  ['run', 'test:nats'],
  ['run', 'test:document', '--', '--quick'],
];
/**
 * Run beside all of them but the first, with what these leave of the processor: they wait for blocks and leases, and a seed has no clock but its
 * own. One process keeps one core busy. What each says is told at its end.
 */
const BESIDE = [
  ['run', 'simulate', '--', '--seeds', '100'],
  ['run', 'simulate', '--', '--seeds', '100', '--from', '101'],
];
const LAST_LINES = 60;
/** By their names. */
const NEEDS_PROGRAMS = new Set(['openapi:breaking', 'test:geth', 'test:nats', 'test:document']);
const LONG = [
  ['run', 'simulate', '--', '--seeds', '1000', '--coverage'],
  ['run', 'mutate:sql'],
  // Says nothing about speed: only that the benchmark runs still.
  ['run', 'bench', '--', '--only', '2', '--scale', '0.001', '--repetitions', '1'],
  ['run', 'test:document'],
  ['run', 'test:python-client'],
  ['run', 'test:go-client'],
  // Here and not in `.ci/run`: a weakness that somebody publishes must not keep a change from landing that has nothing to do with it.
  ['run', 'audit'],
];

const isLong = process.argv[2] === 'long';
const current = new Set();
let interrupted = false;
const programs = isLong ? null : buildPrograms();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of programs?.children ?? []) child.kill(signal);
    for (const child of current) child.kill(signal);
  });
}

const home = mkdtempSync(join(tmpdir(), 'lockstep-ci-'));
const reports = join(home, 'reports');
const report = newReport();
const parts = [];
let beside = [];
for (const args of isLong ? LONG : SHORT) {
  if (NEEDS_PROGRAMS.has(args[1])) await programs?.built;
  if (interrupted) break;
  parts.push(await part(args));
  if (args === SHORT[0] && !interrupted) beside = BESIDE.map(partBeside);
}
parts.push(...(await Promise.all(beside)));
addReports(report, reports);
report.parts.push(...parts);
rmSync(home, { recursive: true });
closeReport(report);
process.exit(!interrupted && parts.every(({ ok }) => ok) ? 0 : 1);

function part(args) {
  console.log(`\n==== ${nameOf(args)}`);
  return run(args, 'inherit').ended;
}

async function partBeside(args) {
  const { child, ended } = run(args, 'pipe');
  setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const result = await ended;
  const output = Buffer.concat(chunks).toString();
  process.stdout.write(`\n==== ${result.name}, beside the others\n${output}`);
  if (!result.ok && !interrupted)
    report.failures.push({ file: result.name, test: 'its last lines', message: lastLines(output) });
  return result;
}

/** A simulator that fails says there which seed broke what, below the last steps of that seed. */
function lastLines(output) {
  return output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}

function nameOf(args) {
  return `npm ${args.join(' ')}`;
}

function run(args, output) {
  const start = performance.now();
  const cli = process.env.npm_execpath;
  const [command, before] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  const child = spawn(command, [...before, ...args], {
    cwd: ROOT,
    stdio: ['inherit', output, output],
    env: reportingTo(reports),
  });
  current.add(child);
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  }).then((ok) => {
    current.delete(child);
    return { name: nameOf(args), ok, seconds: (performance.now() - start) / 1000 };
  });
  return { child, ended };
}

/** With what the first parts leave of the processor. A part that finds no program says so, and tries once more. */
function buildPrograms() {
  const children = ['go-program.mjs', 'python-program.mjs'].map((script) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', script)], { cwd: ROOT, stdio: 'ignore' });
    setPriority(child.pid, constants.priority.PRIORITY_LOW);
    return child;
  });
  const ends = children.map((child) => new Promise((resolve) => child.once('close', resolve)));
  return { children, built: Promise.all(ends) };
}

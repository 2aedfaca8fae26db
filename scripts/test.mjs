import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, ensureBuilt, ensureInstalled, ROOT } from './bootstrap.mjs';

/* The whole check, in the order in which a mistake is found soonest. Stops at the first stage that fails. */

const CHECKS = [
  ['Format', bin('prettier', 'bin/prettier.cjs'), ['--check', '--log-level', 'warn', '.']],
  [
    'Dependency rules',
    bin('dependency-cruiser', 'bin/dependency-cruise.mjs'),
    ['--config', '.dependency-cruiser.cjs', 'src', 'test', 'bench'],
  ],
  [
    'Dependency rules at run time',
    bin('dependency-cruiser', 'bin/dependency-cruise.mjs'),
    ['--config', '.dependency-cruiser-runtime.cjs', 'src'],
  ],
  ['Types', bin('typescript', 'bin/tsc'), ['--noEmit']],
  ['Lint', bin('eslint', 'bin/eslint.js'), ['--max-warnings', '0', '.']],
];

// Of the chaos suite only one kill, one pause and one partition: all of it is a command of its own (npm run test:chaos).
const SUITES = [
  { title: 'unit', args: ['--selectProjects', 'unit'] },
  { title: 'int', args: ['--selectProjects', 'int'] },
  { title: 'e2e', args: ['--selectProjects', 'e2e'] },
  { title: 'chaos smoke', args: ['chaos/smoke', '--selectProjects', 'chaos'] },
];

const results = mkdtempSync(join(tmpdir(), 'lockstep-test-'));
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exitCode = 1;
  });
}

let passed = 0;
let failed = 0;
await ensureInstalled();
await ensureBuilt();
const ok = (await allChecks()) && (await allSuites());
rmSync(results, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(ok ? 0 : 1);

/** Side by side, two at a time; what each one says is kept back until it is its turn. */
async function allChecks() {
  const queue = CHECKS.map(([title, script, args]) => ({ title, script, args, ...deferred() }));
  const waiting = [...queue];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      check.resolve(await node([check.script, ...check.args], 'pipe'));
    }
  };
  void Promise.all([worker(), worker()]);
  let good = true;
  for (const { title, promise } of queue) {
    const { code, seconds, output } = await promise;
    heading(title, seconds, code);
    if (output !== '') process.stdout.write(`${output.trimEnd()}\n`);
    good &&= code === 0;
  }
  return good;
}

async function allSuites() {
  for (const { title, args } of SUITES) {
    console.log(`\n== ${title} tests`);
    const file = join(results, `${title}.json`);
    const flags = [...args, '--maxWorkers=2', '--json', '--outputFile', file];
    // Jest prints its JSON to standard output only when no file is given; its normal report goes to standard error.
    const { code, seconds } = await node([bin('jest', 'bin/jest.js'), ...flags], 'inherit');
    heading(`${title} tests`, seconds, code);
    count(file);
    if (code !== 0) return false;
  }
  return true;
}

function count(file) {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(file, 'utf8'));
    passed += numPassedTests;
    // A file that could not even be loaded has no tests to count, and is a failure all the same.
    failed += numFailedTests + numRuntimeErrorTestSuites;
  } catch {
    failed += 1;
  }
}

function heading(title, seconds, code) {
  console.log(`== ${title}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds.toFixed(1)} s)`);
}

function node(args, output) {
  const start = performance.now();
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', output, output] });
  running.add(child);
  const chunks = [];
  child.stdout?.on('data', (chunk) => chunks.push(chunk));
  child.stderr?.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve({
        code: code ?? 1,
        seconds: (performance.now() - start) / 1000,
        output: Buffer.concat(chunks).toString(),
      });
    });
  });
}

function deferred() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

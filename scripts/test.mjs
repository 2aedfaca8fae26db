import { execFileSync, spawn } from 'node:child_process';
import { bin, ensureBuilt, ensureInstalled, ROOT } from './bootstrap.mjs';
import { GETH, goProgram, NATS_SERVER, OAPI_CODEGEN, OASDIFF } from './go-program.mjs';
import { OPENAPI_PYTHON_CLIENT, pythonProgram } from './python-program.mjs';
import { closeReport, newReport } from './report.mjs';
import { runSuites } from './suites.mjs';

/*
 * The whole check, in the order in which a mistake is found soonest; the unit tests end it when they fail. With arguments one suite alone:
 * `node scripts/test.mjs chaos`, and more of them are Jest's.
 */

// The longest one first: the others take as long together, beside it.
const CHECKS = [
  ['Lint and types', bin('oxlint', 'bin/oxlint'), ['-c', 'oxlint.config.mjs', '--type-check']],
  [
    'Dependency rules',
    bin('dependency-cruiser', 'bin/dependency-cruise.mjs'),
    ['--config', '.dependency-cruiser.cjs', 'src', 'test', 'bench'],
  ],
  [
    'Dependency rules at run time',
    bin('dependency-cruiser', 'bin/dependency-cruise.mjs'),
    ['--config', '.dependency-cruiser-runtime.cjs', 'src/kernel', 'src/modules/*/domain'],
  ],
  ['Format', bin('oxfmt', 'bin/oxfmt'), ['--list-different']],
];

const SUITES = [
  { name: 'unit', args: [] },
  // Of chaos one kill, one pause and one partition: all of the suite is a command of its own (npm run test:chaos).
  { name: 'int', beside: ['e2e', 'chaos'], args: ['test/integration/', 'test/e2e/', 'test/chaos/smoke'] },
];

/** What the tests of a suite run, and who gets it. */
const PROGRAMS = {
  geth: [GETH, goProgram],
  nats: [NATS_SERVER, goProgram],
  breaking: [OASDIFF, goProgram],
  'go-client': [OAPI_CODEGEN, goProgram],
  'python-client': [OPENAPI_PYTHON_CLIENT, pythonProgram],
};

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exitCode = 1;
  });
}

const report = newReport();
const [only, ...args] = process.argv.slice(2);
const suites = only === undefined ? SUITES : [{ name: only, args }];
await ensureInstalled();
await ensureBuilt();
if (only === 'breaking' && !hasHistory())
  doNotRun('breaking changes: this is no whole clone, so the document before is not here');
if (only in PROGRAMS) takeProgram(only);
const right = only !== undefined || (await allChecks());
const ok = right && (await runSuites(suites, report, shown));
closeReport(report);
process.exit(ok ? 0 : 1);

function takeProgram(suite) {
  const [program, find] = PROGRAMS[suite];
  const file = find(program);
  if (file === null) doNotRun(`${suite} tests: ${program.variable} names no program, and none can be had from outside`);
  process.env[program.variable] = file;
}

function hasHistory() {
  try {
    const said = execFileSync('git', ['rev-parse', '--is-shallow-repository'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return said.toString().trim() === 'false';
  } catch {
    return false;
  }
}

/** Ends this process, which is no failure. */
function doNotRun(why) {
  report.absent.push(why);
  closeReport(report);
  process.exit(0);
}

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

function shown(args, title) {
  console.log(`\n== ${title}`);
  return node(args, 'inherit');
}

function heading(title, seconds, code) {
  report.parts.push({ name: title, ok: code === 0, seconds });
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

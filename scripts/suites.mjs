import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { bin, ROOT } from './bootstrap.mjs';

/* Runs suites of Jest one after the other, or some as one, and looks once more, at the end, at the files that failed. */

/** Their tests use real processes on a busy machine. What fails in the others is decided by the code alone. */
const LOOKED_AT_AGAIN = new Set(['int', 'e2e', 'chaos', 'geth', 'nats', 'go-client', 'python-client']);
/** Unit tests keep a core busy each; the others also wait for blocks, leases and servers. */
const WORKERS = { unit: 2 };
const WORKERS_THAT_WAIT = 3;
/** A seed that fails is a fault, also when the next run of it passes. */
const SIMULATOR = 'simulator';
/** So many at once are no chance. */
const MOST_LOOKED_AT_AGAIN = 10;

/**
 * @param suites of {name, args, beside}: a project of jest.config.mjs, what else Jest is told, and projects whose files run among those of the first:
 * one server and one set of processes serve them all, and none of these waits for the last file of another suite
 * @param node runs Node with arguments, under a title. @returns {code, seconds}
 * @returns whether all is right in the end
 */
export async function runSuites(suites, report, node) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-test-'));
  // Each service adds a line to it (test/support/service.ts).
  const answers = join(folder, 'answers');
  process.env.TEST_ANSWERS = answers;
  const outcomes = new Map();
  const again = [];
  let ok = true;
  for (const { name, args, beside = [] } of suites) {
    const projects = [name, ...beside];
    const workers = `--maxWorkers=${WORKERS[name] ?? WORKERS_THAT_WAIT}`;
    const { files, passed } = await jest(
      projects,
      [workers, ...args],
      [projects.join(' and '), 'tests', ...args].join(' '),
    );
    for (const file of files) outcomes.set(file.name, file);
    const failed = files.filter(({ status }) => status === 'failed').map((file) => file.name);
    if (passed) continue;
    if (mayLookAgain(name, failed)) again.push({ projects, failed });
    else ok = false;
    if (!LOOKED_AT_AGAIN.has(name)) break;
  }
  if (ok) for (const { projects, failed } of again) await lookAgain(projects, failed);
  if (existsSync(answers))
    for (const line of readFileSync(answers, 'utf8').trim().split('\n')) report.answers += Number(line);
  rmSync(folder, { recursive: true });
  ok &&= again.every(({ failed }) => failed.every((file) => outcomes.get(file).status === 'passed'));
  count();
  return ok;

  async function jest(projects, args, title) {
    const file = join(folder, 'results.json');
    rmSync(file, { force: true });
    const flags = ['--selectProjects', ...projects, '--json', '--outputFile', file, ...args];
    // Jest prints its JSON to standard output only when no file is given; its normal report goes to standard error.
    const { code, seconds } = await node([bin('jest', 'bin/jest.js'), ...flags], title);
    report.parts.push({ name: title, ok: code === 0, seconds });
    return { passed: code === 0, files: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : [] };
  }

  async function lookAgain(projects, failed) {
    const args = ['--maxWorkers=1', '--runTestsByPath', ...failed];
    const { files } = await jest(projects, args, `${projects.join(' and ')} tests, once more`);
    for (const file of files) {
      if (file.status === 'passed') report.flaky.push(...failuresOf(outcomes.get(file.name)));
      outcomes.set(file.name, file);
    }
  }

  function count() {
    for (const outcome of outcomes.values()) {
      const { name, status, startTime, endTime, assertionResults } = outcome;
      report.passed += assertionResults.filter((test) => test.status === 'passed').length;
      if (status === 'failed') report.failures.push(...failuresOf(outcome));
      report.files.push({ file: relative(ROOT, name), seconds: (endTime - startTime) / 1000 });
    }
    if (!ok && report.failures.length === 0)
      report.failures.push({ file: suites.map(({ name }) => name).join(', '), test: 'no result', message: '' });
  }
}

function mayLookAgain(name, failed) {
  return (
    LOOKED_AT_AGAIN.has(name) &&
    failed.length > 0 &&
    failed.length <= MOST_LOOKED_AT_AGAIN &&
    !failed.some((file) => basename(file).startsWith(SIMULATOR))
  );
}

/** A file that could not even be loaded has no tests, and is a failure all the same. */
function failuresOf({ name, message, assertionResults }) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  const file = relative(ROOT, name);
  if (failed.length === 0) return [{ file, test: 'the file as a whole', message }];
  return failed.map((test) => ({ file, test: test.fullName, message: test.failureMessages.join('\n') }));
}

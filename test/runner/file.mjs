import { jestExpect as expect } from '@jest/expect';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { formatResultsErrors } from 'jest-message-util';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { jest } from './jest-globals.mjs';

/* In a process of runner.mjs: one file after the other. */

const ROOT = 1;

// What a file has started ends with this process, also when Jest is interrupted, and also what is paused.
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) process.once(event, () => process.exit(1));
process.once('exit', () => {
  for (const pid of children()) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
});

/** Where the system lists them. */
function children() {
  const list = `/proc/${process.pid}/task/${process.pid}/children`;
  return existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}
process.on('uncaughtException', blame).on('unhandledRejection', blame);
addEventHandler(({ name, test }) => {
  if (name === 'test_start') jest.restoreAllMocks();
  // What expect.assertions(n) has to say.
  if (name === 'test_done') test.errors.push(...expect.extractExpectedAssertionsErrors().map(({ error }) => error));
});

export async function runFile(path, { config, testNamePattern, testTimeout }) {
  const start = Date.now();
  const environment = { ...process.env };
  resetState();
  Object.assign(getState(), {
    testTimeout: testTimeout ?? config.testTimeout ?? 5_000,
    testNamePattern: testNamePattern ? new RegExp(testNamePattern, 'i') : null,
  });
  expect.setState({ testPath: path, expand: false });
  let loaded = null;
  try {
    await import(pathToFileURL(path).href);
    loaded = await run();
  } finally {
    putBack(environment);
  }
  return resultOf(path, config, { start, end: Date.now() }, loaded);
}

/** An error that nobody caught is told with the test that runs. */
function blame(error) {
  const { currentlyRunningTest, unhandledErrors } = getState();
  (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
}

function putBack(environment) {
  jest.useRealTimers();
  jest.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}

function resultOf(path, config, { start, end }, { testResults, unhandledErrors }) {
  const results = testResults.map(({ testPath, errors, status, duration, retryReasons, ...rest }) => ({
    ancestorTitles: testPath.slice(ROOT, -1),
    title: testPath.at(-1),
    fullName: testPath.slice(ROOT).join(' '),
    status: status === 'done' ? (errors.length > 0 ? 'failed' : 'passed') : status === 'skip' ? 'pending' : status,
    failureMessages: errors,
    failureDetails: [],
    duration,
    retryReasons,
    invocations: rest.invocations,
    numPassingAsserts: 0,
    location: null,
  }));
  const count = (wanted) => results.filter(({ status }) => status === wanted).length;
  const failureMessage = formatResultsErrors(results, config, {}, path);
  const stack = unhandledErrors.join('\n');
  return {
    testFilePath: path,
    displayName: config.displayName,
    testResults: results,
    numPassingTests: count('passed'),
    numFailingTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    failureMessage: stack === '' ? failureMessage : `${failureMessage ?? ''}\n${stack}`,
    testExecError: stack === '' ? undefined : { message: '', stack },
    perfStats: { start, end, runtime: end - start, slow: false },
    snapshot: { added: 0, fileDeleted: false, matched: 0, unchecked: 0, uncheckedKeys: [], unmatched: 0, updated: 0 },
    leaks: false,
    openHandles: [],
    skipped: false,
  };
}

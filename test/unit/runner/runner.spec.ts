import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const RUNNER = fileURLToPath(new URL('../../runner/runner.mjs', import.meta.url));

const START = `import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';\n`;

/** Finds things as they were, whichever of two such suites runs first, and leaves them changed. */
const CHANGES = `it('finds things as they were, and changes them', async () => {
    expect([process.env.LEFT, Math.max(1, 2)]).toEqual([undefined, 2]);
    await new Promise((resolve) => setTimeout(resolve, 1));
    jest.useFakeTimers();
    process.env.LEFT = 'x';
    jest.spyOn(Math, 'max').mockReturnValue(7);
  });`;

/** Suites in the manner of ours, each with a fault that a runner could miss. */
const SUITES: Record<string, string> = {
  passes: `it('adds', () => expect(1 + 1).toBe(2)); describe('block', () => { it.each([1, 2])('is %i', (n) => expect(n).toBe(n)); });`,
  fails: `it('adds', () => expect(1 + 1).toBe(3)); it('goes on', () => undefined);`,
  hangs: `it('hangs', () => new Promise(() => setInterval(() => undefined, 1_000).unref()), 50);`,
  throwsLate: `it('throws later', async () => { setTimeout(() => { throw new Error('late'); }); await new Promise((r) => setTimeout(r, 30)); });`,
  rejectsLate: `it('rejects unheard', async () => { void Promise.reject(new Error('unheard')); await new Promise((r) => setTimeout(r, 30)); });`,
  cannotLoad: `import './nothing.mjs'; it('is never seen', () => undefined);`,
  hookFails: `afterEach(() => { throw new Error('hook'); }); it('passes itself', () => undefined);`,
  lastHookFails: `afterAll(() => { throw new Error('last hook'); }); it('passes itself', () => undefined);`,
  asserts: `it('asserts too little', () => { expect.assertions(1); });`,
  dies: `it('ends the process', () => process.exit(0));`,
  changesOnce: CHANGES,
  changesTwice: CHANGES,
};

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

describe('the runner of the tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-runner-'));
  let report: Report;
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeAll(async () => {
    for (const [name, text] of Object.entries(SUITES)) writeFileSync(join(folder, `${name}.spec.mjs`), START + text);
    const config = { rootDir: folder, runner: RUNNER, testMatch: ['**/*.spec.mjs'], testTimeout: 5_000 };
    writeFileSync(join(folder, 'jest.config.json'), JSON.stringify(config));
    report = await jestOf(['--maxWorkers=1']);
  });

  const jestOf = async (args: readonly string[]): Promise<Report> => {
    const file = join(folder, 'report.json');
    const flags = ['--config', join(folder, 'jest.config.json'), '--json', '--outputFile', file];
    await new Promise((resolve) => execFile(process.execPath, [JEST, ...flags, ...args], { cwd: folder }, resolve));
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  };

  const suite = (name: string): Report['testResults'][number] | undefined =>
    report.testResults.find((one) => one.name.endsWith(`/${name}.spec.mjs`));
  const outcomes = (name: string): string[] =>
    (suite(name)?.assertionResults ?? []).map(({ fullName, status }) => `${fullName}: ${status}`);

  it('runs every file and fails as a whole', () => {
    expect(report.success).toBe(false);
    expect(report.testResults).toHaveLength(Object.keys(SUITES).length);
  });

  it('tells what passes', () => {
    expect(suite('passes')?.status).toBe('passed');
    expect(outcomes('passes')).toEqual(['adds: passed', 'block is 1: passed', 'block is 2: passed']);
  });

  it('tells what fails, and goes on behind it', () => {
    expect(outcomes('fails')).toEqual(['adds: failed', 'goes on: passed']);
    expect(suite('fails')?.message).toContain('Expected: 3');
  });

  it.each(['hangs', 'throwsLate', 'rejectsLate', 'hookFails', 'lastHookFails', 'asserts', 'cannotLoad', 'dies'])(
    'fails a suite that %s',
    (name) => {
      expect(suite(name)?.status).toBe('failed');
      expect(suite(name)?.message).not.toBe('');
    },
  );

  it('puts back timers, spies and the environment after a file', () => {
    for (const name of ['changesOnce', 'changesTwice'])
      expect(outcomes(name)).toEqual(['finds things as they were, and changes them: passed']);
  });

  it('runs the tests whose names are asked for', async () => {
    const { testResults } = await jestOf(['--maxWorkers=1', 'passes', '--testNamePattern', 'is 2']);
    expect(testResults.flatMap((one) => one.assertionResults.map(({ status }) => status))).toEqual([
      'pending',
      'pending',
      'passed',
    ]);
  });
});

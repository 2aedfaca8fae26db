import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

interface Suite {
  readonly name: string;
  readonly args: readonly string[];
  readonly beside?: readonly string[];
}

interface Report {
  readonly failures: readonly Failure[];
  readonly flaky: readonly Failure[];
  readonly passed: number;
}

const ROOT = path.resolve(import.meta.dirname, '../../..');
const script = (name: string): Promise<unknown> => import(path.join(ROOT, 'scripts', name));
const { newReport } = (await script('report.mjs')) as { newReport: () => Report };
const { runSuites } = (await script('suites.mjs')) as {
  runSuites: (
    suites: readonly Suite[],
    report: Report,
    node: (args: readonly string[]) => Promise<{ code: number; seconds: number }>,
  ) => Promise<boolean>;
};

/** What Jest finds in each of its runs: file to whether its one test passes; null where it does not even start. */
type Found = Readonly<Record<string, boolean>> | null;

function run(suites: readonly string[], ...found: readonly Found[]) {
  return runThese(
    suites.map((name) => ({ name, args: [] })),
    ...found,
  );
}

async function runThese(suites: readonly Suite[], ...found: readonly Found[]) {
  const [report, runs] = [newReport(), [...found]];
  const asked: string[][] = [];
  const ok = await runSuites(suites, report, async (args) => {
    asked.push([...args]);
    const files = runs.shift() ?? null;
    if (files !== null) writeFileSync(args[args.indexOf('--outputFile') + 1] ?? '', resultsOf(files));
    return { code: files !== null && Object.values(files).every(Boolean) ? 0 : 1, seconds: 1 };
  });
  return { ok, report, asked };
}

function resultsOf(files: Readonly<Record<string, boolean>>): string {
  const testResults = Object.entries(files).map(([file, passes]) => {
    const status = passes ? 'passed' : 'failed';
    const tests = [{ fullName: 'a test', status, failureMessages: passes ? [] : ['its message'] }];
    return { name: path.join(ROOT, file), status, startTime: 0, endTime: 1, message: '', assertionResults: tests };
  });
  return JSON.stringify({ testResults });
}

describe('a file that fails', () => {
  it('is run once more alone, behind the other suites, and is told as flaky when it passes', async () => {
    const { ok, report, asked } = await run(['int', 'e2e'], { a: true, b: false }, { c: true }, { b: true });
    expect(ok).toBe(true);
    expect(asked).toHaveLength(3);
    expect(asked[2]).toEqual(
      expect.arrayContaining(['int', '--maxWorkers=1', '--runTestsByPath', path.join(ROOT, 'b')]),
    );
    expect(report).toMatchObject({ passed: 3, failures: [] });
    expect(report.flaky).toEqual([{ file: 'b', test: 'a test', message: 'its message' }]);
  });

  it('is run once more with the projects whose files ran together', async () => {
    const together = { name: 'int', beside: ['e2e'], args: ['some'] };
    const { ok, asked } = await runThese([together], { a: true, b: false }, { b: true });
    expect(ok).toBe(true);
    for (const args of asked) expect(args.join(' ')).toContain('--selectProjects int e2e --json');
    expect(asked[0]).toEqual(expect.arrayContaining(['--maxWorkers=3', 'some']));
    expect(asked[1]).toEqual(expect.arrayContaining(['--runTestsByPath', path.join(ROOT, 'b')]));
  });

  it('is a failure when it fails again, or is not heard of again', async () => {
    const again = await run(['int'], { a: true, b: false }, { b: false });
    expect([again.ok, again.report.passed, again.report.flaky]).toEqual([false, 1, []]);
    expect(again.report.failures).toEqual([{ file: 'b', test: 'a test', message: 'its message' }]);
    expect((await run(['int'], { b: false }, null)).ok).toBe(false);
  });

  it.each([
    ['of the unit tests', 'unit', ['a']],
    ['of the simulator', 'int', ['test/integration/simulator.int-spec.ts', 'a']],
    ['with many others', 'int', Array.from({ length: 11 }, (_, index) => `file-${index}`)],
  ])('%s is a failure at once', async (_, suite, files) => {
    const { ok, asked } = await run([suite], Object.fromEntries(files.map((file) => [file, false])), {});
    expect([ok, asked.length]).toEqual([false, 1]);
  });
});

it('a suite that does not start is a failure, and is not started again', async () => {
  const { ok, report, asked } = await run(['geth'], null);
  expect([ok, asked.length, report.failures.length]).toEqual([false, 1, 1]);
});

it('unit tests that fail end the run, other suites do not', async () => {
  expect((await run(['unit', 'int'], { a: false })).asked).toHaveLength(1);
  expect((await run(['int', 'e2e'], null, { a: true })).asked).toHaveLength(2);
});

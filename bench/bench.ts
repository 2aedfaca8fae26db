import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { KEPT, ROOT } from '../src/dev/paths.js';
import { armAtExit } from './harness/at-exit.js';
import { Bench, type Row } from './harness/bench.js';
import type { Finding } from './harness/finding.js';
import { assertNativeSigning } from './harness/lean-envelope.js';
import { machine } from './harness/machine.js';
import { HELP, type Options, readOptions } from './harness/options.js';
import { print } from './harness/progress.js';
import { type Results, writeResults } from './harness/report.js';
import { settingsInWords } from './harness/service-config.js';
import { table } from './harness/table.js';
import { bareLoopRow } from './rows/bare-loop.js';
import { costRow } from './rows/cost.js';
import { crowdRow } from './rows/crowd.js';
import { defaultInFlightRow } from './rows/default-in-flight.js';
import { doorsRow } from './rows/doors.js';
import { endToEndRow } from './rows/end-to-end.js';
import { growthRow } from './rows/growth.js';
import { intakeRow } from './rows/intake.js';
import { latencyRow } from './rows/latency.js';
import { neighbourRow } from './rows/neighbour.js';
import { rpcLatencyRow } from './rows/rpc-latency.js';
import { tellingRow } from './rows/telling.js';

/** By number; row 2 measures row 1 beside it, and rows 11 and 12 are for --only. */
const ROWS: Readonly<Record<number, Row>> = {
  1: bareLoopRow,
  2: endToEndRow,
  3: intakeRow,
  4: latencyRow,
  5: rpcLatencyRow,
  6: growthRow,
  7: costRow,
  8: defaultInFlightRow,
  9: tellingRow,
  10: neighbourRow,
  11: crowdRow,
  12: doorsRow,
};
const ALL = [2, 3, 4, 5, 6, 7, 8, 9, 10];
const QUICK = [2, 3];

/** `npm run bench`. @returns the exit code: 1 when a row could not be measured, whatever the numbers are */
export async function main(args: readonly string[]): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions(args);
  } catch (error) {
    print(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return 2;
  }
  if (!options) {
    print(HELP);
    return 0;
  }
  armAtExit();
  assertNativeSigning();
  const results = await runRows(options, args);
  if (!results.comparable) print(`\nscaled by ${options.scale}: for a try only, NOT COMPARABLE with anything`);
  print(`\n${table(results.findings)}\n\n${settingsInWords()}\n`);
  for (const failure of results.failures) print(`FAILED ${failure}`);
  return results.failures.length === 0 ? 0 : 1;
}

async function runRows(options: Options, args: readonly string[]): Promise<Results> {
  const startedAt = new Date().toISOString();
  const directory = join(KEPT, 'bench', startedAt.replace(/[:.]/g, '-'));
  mkdirSync(directory, { recursive: true });
  const bench = new Bench(options, directory);
  const findings: Finding[] = [];
  const results: Results = {
    startedAt,
    command: ['npm run bench --', ...args].join(' '),
    comparable: options.scale === 1,
    machine: await machine(),
    options,
    sizes: bench.sizes,
    findings,
    failures: bench.failures,
  };
  const { cores, cpu, node, postgres, anvil } = results.machine;
  print(`${cores} cores (${cpu}), Node ${node}, PostgreSQL ${postgres}, ${anvil}`);
  for (const row of selected(options)) {
    try {
      findings.push(...(await row.run(bench)));
    } catch (error) {
      bench.failed(row.title, error);
    }
    // After every row, so that nothing is lost when a later one is interrupted.
    const files = writeResults(directory, results);
    bench.progress.say(`${row.title}: written to ${files.map((file) => relative(ROOT, file)).join(' and ')}`);
  }
  return results;
}

function selected({ only, quick }: Options): Row[] {
  const numbers = only !== null ? [only] : quick ? QUICK : ALL;
  return numbers.flatMap((number) => ROWS[number] ?? []);
}

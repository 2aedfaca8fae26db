import { Coverage } from './coverage.js';
import { COVERAGE } from './coverage-list.js';
import { openSimulatorDatabase } from './own-server.js';
import { BadOption, parseOptions, type SimulateOptions, USAGE } from './options.js';
import { foldSeed } from './random.js';
import { runSeed, type SeedResult } from './run-seed.js';
import type { SimDatabase } from './sim-database.js';

const TRACE_LINES = 40;

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/** @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await simulate(parseOptions(args));
  } catch (error) {
    if (!(error instanceof BadOption)) throw error;
    process.stderr.write(`${error.message}; usage: ${USAGE}\n`);
    return EXIT_USAGE;
  }
}

async function simulate(options: SimulateOptions): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const { database, stop } = await openSimulatorDatabase();
  try {
    return await runAll(options, database);
  } finally {
    await stop();
  }
}

async function runAll({ from, seeds, coverage: isAsked }: SimulateOptions, database: SimDatabase): Promise<number> {
  const start = performance.now();
  const seconds = (): string => ((performance.now() - start) / 1000).toFixed(0);
  const coverage = new Coverage(COVERAGE);
  let actions = 0;
  let requests = 0;
  let shown = start;
  for (let clean = 0; clean < seeds; clean += 1) {
    const seed = from + BigInt(clean);
    const result = await runSeed(foldSeed(seed), database);
    coverage.add(result.seen);
    if (result.violation !== null) return report(result, seed, clean);
    actions += result.actions;
    requests += result.requests;
    if (performance.now() - shown > 2_000) {
      shown = performance.now();
      print(`${clean + 1} of ${seeds} seeds clean, ${seconds()} s`);
    }
  }
  print(
    `${seeds} seeds clean (${from} to ${from + BigInt(seeds) - 1n}): ${actions} actions, ${requests} requests, ${seconds()} s`,
  );
  return isAsked ? judge(coverage) : 0;
}

function judge(coverage: Coverage): number {
  for (const line of coverage.table()) print(line);
  for (const name of coverage.missing()) print(`never happened: ${name}`);
  for (const name of coverage.excusedInVain()) print(`happened, although the list says why it cannot: ${name}`);
  return coverage.missing().length + coverage.excusedInVain().length === 0 ? 0 : 1;
}

function report({ violation, trace }: SeedResult, seed: bigint, clean: number): number {
  print(`\nseed ${seed}, the last of ${trace.length} steps:`);
  for (const line of trace.slice(-TRACE_LINES)) print(`  ${line}`);
  print(`\n${violation}`);
  print(
    `${clean} seeds clean, then seed ${seed} broke an invariant. Replay: npm run simulate -- --seeds 1 --from ${seed}`,
  );
  return 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

import { parseArgs } from 'node:util';
import { runMigrations } from '../../src/platform/database/migrations.js';
import { startScratchPostgres } from '../support/postgres.js';
import { createDatabase, databaseUrl } from '../support/test-database.js';
import { runSeed, type SeedResult } from './run-seed.js';
import { SimDatabase } from './sim-database.js';

const DATABASE = 'simulator';
const TRACE_LINES = 40;

/** `npm run simulate -- --seeds 1000 [--from SEED]`. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: '1' } },
  });
  const from = wholeNumber('--from', values.from);
  const seeds = wholeNumber('--seeds', values.seeds);
  const server = await startScratchPostgres();
  process.once('exit', () => server.abandon());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  await createDatabase(server.url, DATABASE);
  const url = databaseUrl(server.url, DATABASE);
  await runMigrations(url);
  const database = await SimDatabase.open(url);
  try {
    return await runAll(from, seeds, database);
  } finally {
    await database.close();
  }
}

async function runAll(from: number, seeds: number, database: SimDatabase): Promise<number> {
  const start = performance.now();
  const seconds = (): string => ((performance.now() - start) / 1000).toFixed(0);
  let actions = 0;
  let requests = 0;
  let shown = start;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const result = await runSeed(seed, database);
    if (result.violation !== null) return report(result, seed - from);
    actions += result.actions;
    requests += result.requests;
    if (performance.now() - shown > 2_000) {
      shown = performance.now();
      print(`${seed - from + 1} of ${seeds} seeds clean, ${seconds()} s`);
    }
  }
  print(
    `${seeds} seeds clean (${from} to ${from + seeds - 1}): ${actions} actions, ${requests} requests, ${seconds()} s`,
  );
  return 0;
}

function report({ seed, violation, trace }: SeedResult, clean: number): number {
  print(`\nseed ${seed}, the last of ${trace.length} steps:`);
  for (const line of trace.slice(-TRACE_LINES)) print(`  ${line}`);
  print(`\n${violation}`);
  print(
    `${clean} seeds clean, then seed ${seed} broke an invariant. Replay: npm run simulate -- --seeds 1 --from ${seed}`,
  );
  return 1;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RangeError(`${name} takes a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import type { BenchPostgres } from './postgres.js';
import { type Stack, type StackOptions, withStack } from './stack.js';
import type { TxLog } from './tx-log.js';

const PROFILER = new URL('../children/profile.mjs', import.meta.url).href;

const COSTLIEST = `
  SELECT calls, rows, round(total_exec_time::numeric, 1) AS total_ms, round(mean_exec_time::numeric, 3) AS mean_ms,
         shared_blks_hit, shared_blks_read, wal_bytes, query
    FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
   ORDER BY total_exec_time DESC LIMIT 60`;

/** A stack for the length of `work`; with `--profile` what it spent its time on is written beside the results. */
export async function benchStack<T>(
  bench: Bench,
  postgres: BenchPostgres,
  label: string,
  options: StackOptions,
  work: (stack: Stack) => Promise<T>,
): Promise<T> {
  if (!bench.options.profile) return withStack(postgres, options, work);
  const name = label.replace(/[^\w]+/g, '-');
  const directory = join(bench.directory, 'profiles');
  mkdirSync(directory, { recursive: true });
  const env = { NODE_OPTIONS: `--import ${PROFILER}`, BENCH_PROFILE: join(directory, name) };
  return withStack(postgres, { ...options, env }, async (stack) => {
    const result = await work(stack);
    await writeStatements(stack.log, join(directory, `${name}-statements.json`));
    return result;
  });
}

async function writeStatements(log: TxLog, file: string): Promise<void> {
  writeFileSync(file, JSON.stringify(await log.query(COSTLIEST), null, 2));
}

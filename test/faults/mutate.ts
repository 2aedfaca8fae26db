import { fileURLToPath } from 'node:url';
import { runMigrations } from '../../src/platform/database/migrations.js';
import { startScratchPostgres } from '../support/postgres.js';
import { SERVER_VARIABLE, TEMPLATE_VARIABLE } from '../support/shared-server.js';
import { createDatabase, databaseUrl } from '../support/test-database.js';
import { ALL_FAULTS } from './all-faults.js';
import type { Catcher, Fault } from './fault.js';
import { CatcherRunner, type Verdict } from './run-catcher.js';
import { ScratchCopy } from './scratch-copy.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TEMPLATE = 'lockstep_faults';
/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;

/**
 * Puts one fault after the other into a copy of the project, and runs the tests that must notice it.
 * @returns the exit code: 0 when each was noticed
 */
export async function main(args: readonly string[]): Promise<number> {
  const chosen = choose(args);
  if (chosen.length === 0) {
    print('usage: npm run mutate:sql [-- --only <part of an id or of the name of a statement>]');
    return EXIT_USAGE;
  }
  const server = await startScratchPostgres();
  const copy = new ScratchCopy(ROOT);
  const env = { ...process.env, [SERVER_VARIABLE]: server.url, [TEMPLATE_VARIABLE]: TEMPLATE };
  const runner = new CatcherRunner(copy.folder, env);
  process.once('exit', () => {
    runner.kill();
    server.abandon();
    copy.remove();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  await createDatabase(server.url, TEMPLATE);
  await runMigrations(databaseUrl(server.url, TEMPLATE));
  return (await isGreenWithoutFaults(runner, chosen)) && (await runAll(runner, copy, chosen)) ? 0 : 1;
}

function choose(args: readonly string[]): readonly Fault[] {
  if (args.length === 0) return ALL_FAULTS;
  const [flag, part] = args;
  if (flag !== '--only' || part === undefined || args.length > 2) return [];
  return ALL_FAULTS.filter((fault) => fault.id.includes(part) || fault.in.includes(part));
}

/** What is red by itself would seem to notice every fault. */
async function isGreenWithoutFaults(runner: CatcherRunner, faults: readonly Fault[]): Promise<boolean> {
  const catchers = new Map(faults.map(({ caughtBy }) => [JSON.stringify(caughtBy), caughtBy]));
  print(`without a fault: ${catchers.size} test files and runs`);
  for (const catcher of catchers.values()) {
    const verdict = await runner.run([catcher]);
    if (verdict.kind === 'green') continue;
    print(`not green without a fault: ${nameOf(catcher)}: ${describe(verdict)}`);
    return false;
  }
  return true;
}

async function runAll(runner: CatcherRunner, copy: ScratchCopy, faults: readonly Fault[]): Promise<boolean> {
  const missed: string[] = [];
  for (const fault of faults) {
    const start = performance.now();
    const verdict = await copy.having(fault, () => runner.run([fault.caughtBy]));
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    if (verdict.kind !== 'red') missed.push(`${fault.id} (${nameOf(fault.caughtBy)}): ${fault.why}`);
    print([fault.id.padEnd(44), nameOf(fault.caughtBy).padEnd(34), seconds.padStart(6), describe(verdict)].join('  '));
  }
  print(`\n${faults.length - missed.length} of ${faults.length} faults were noticed`);
  for (const line of missed) print(`NOT NOTICED ${line}`);
  return missed.length === 0;
}

function describe(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'green':
      return 'SURVIVED';
    case 'red':
      return verdict.by;
    case 'broken':
      return `NOT A FAULT: ${verdict.reason}`;
  }
}

function nameOf(catcher: Catcher): string {
  return `${catcher.project} ${catcher.path}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

import type { Bench } from '../harness/bench.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { addFinished } from '../harness/finished-history.js';
import type { BenchPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import type { Stack } from '../harness/stack.js';

const SIGNERS = 100;

/** The same work on empty tables and beside a million finished transactions; the two take turns. */
export function amongFinished(bench: Bench, postgres: BenchPostgres): Promise<Finding[]> {
  const { sizes, progress } = bench;
  return onStack(bench, postgres, 'row 6, empty', async (empty) => {
    await empty.stack.startServices();
    return onStack(bench, postgres, 'row 6, full', async (full) => {
      await addFinished(full.stack, sizes.finished, (line) => progress.say(`row 6, ${line}`));
      await full.stack.startServices();
      const rates = { empty: [] as number[], full: [] as number[] };
      for (const [name, { drive }] of Object.entries({ empty, full })) {
        progress.say(`row 6, ${name} tables: warm-up`);
        await drive.warmUp(sizes.warmUp);
      }
      await bench.repeat(async (label) => {
        await measure(bench, `row 6, empty tables, ${label}`, empty.drive, rates.empty);
        await measure(bench, `row 6, ${sizes.finished} finished, ${label}`, full.drive, rates.full);
      });
      await empty.drive.check();
      await full.drive.check();
      const yardstick = { name: 'empty tables', samples: rates.empty };
      const target = ratio('at least', 0.9);
      return [
        finding(6, `${sizes.finished} finished, ${SIGNERS} signers, until MINED`, 'tx/s', rates.full, {
          yardstick,
          target,
        }),
      ];
    });
  });
}

interface Place {
  readonly stack: Stack;
  readonly drive: Drive;
}

/** A stack where every signer has executed something, and whose services stand still. */
function onStack<T>(
  bench: Bench,
  postgres: BenchPostgres,
  name: string,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  return benchStack(bench, postgres, name, { signers: SIGNERS }, async (stack) => {
    const drive = new Drive(stack);
    await drive.run(SIGNERS);
    await stack.stopServices();
    return work({ stack, drive });
  });
}

function measure(bench: Bench, name: string, drive: Drive, rates: number[]): Promise<void> {
  return bench.measure(
    name,
    rates,
    async () => (await drive.run(bench.sizes.fewer)).mined,
    (rate) => `${rate.toFixed(0)} mined/s`,
  );
}

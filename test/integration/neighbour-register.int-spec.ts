import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ITEMS_OF_OTHERS } from '../neighbours/items.js';
import { type Figures, measure } from '../neighbours/measure.js';
import { REGISTER } from '../neighbours/register.js';
import { simulatorDatabase } from '../support/simulator-database.js';

const MOST = 2;
const database = await simulatorDatabase();
/** Rows of the table in docs/performance.md. */
const table: string[] = [];
afterAll(
  () =>
    void process.stdout.write(
      ['| list | beside | rounds | calls | waited, s |', '|---|---|---|---|---|', ...table].join('\n').concat('\n'),
    ),
);

/** By how many times the others have more to wait for beside the poison than alone, in the worst respect. */
function times(beside: Figures, alone: Figures): number {
  return Math.max(
    ...(['rounds', 'calls', 'waitedS'] as const).map((figure) => beside[figure] / Math.max(alone[figure], 1)),
  );
}

/** 1,000 items of one actor, and a few of each of the others: what these wait for, by virtual time (docs/invariants.md, I15). */
describe.each(REGISTER.map((entry) => [entry.name, entry] as const))('%s', (name, entry) => {
  let alone: Figures;
  const note = (beside: string, { rounds, calls, waitedS }: Figures): void =>
    void table.push(`| ${name} | ${beside} | ${rounds} | ${calls} | ${waitedS.toFixed(1)} |`);
  beforeAll(async () => {
    alone = await measure(database, entry, null);
    note('nobody', alone);
  });

  for (const poison of entry.poisons) {
    const open = entry.over?.[poison];
    const asks = open === undefined ? 'at most twice as long' : `longer, but ${open.mostS} s at most (${open.why}),`;
    it(`others wait ${asks} beside one for whom everything is: ${poison}`, async () => {
      const beside = await measure(database, entry, poison);
      note(open === undefined ? poison : `${poison} (open)`, beside);
      if (open !== undefined) expect(beside.waitedS / ITEMS_OF_OTHERS.length).toBeLessThanOrEqual(open.mostS);
      // When this fails, what the register calls open is not open any more.
      const expected = expect(times(beside, alone));
      if (open === undefined) expected.toBeLessThanOrEqual(MOST);
      else expected.toBeGreaterThan(MOST);
    });
  }
});

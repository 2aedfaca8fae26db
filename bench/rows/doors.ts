import type { Row } from '../harness/bench.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { RECEIVER } from '../harness/payload.js';
import { withPostgres } from '../harness/postgres.js';
import type { StackOptions } from '../harness/stack.js';
import { type Cost, measure } from './cost.js';

const ETHER = 10n ** 18n;
/** All that is judged by itself, and nothing is refused. */
const POLICY = { to: [{ address: RECEIVER }], maxValue: String(ETHER), maxFee: String(ETHER) };
const DAILY = { dailyValue: String(1_000_000n * ETHER), dailyFees: String(1_000_000n * ETHER) };

const OPEN = 'nobody is asked';
const WAYS: ReadonlyMap<string, Partial<StackOptions>> = new Map([
  [OPEN, {}],
  ['keys and policies', { keys: true, policy: POLICY }],
  ['keys, policies and daily amounts', { keys: true, policy: { ...POLICY, ...DAILY } }],
]);

/** Row 12: what it costs to ask who calls, and what each signer may sign. */
export const doorsRow: Row = {
  title: 'doors',
  run: (bench) =>
    withPostgres(true, async (postgres) => {
      const costs = new Map<string, Cost[]>([...WAYS.keys()].map((way) => [way, []]));
      await bench.repeat(async (label) => {
        for (const [way, samples] of costs)
          await measure(bench, postgres, `row 12, ${way}, ${label}`, samples, WAYS.get(way));
      });
      return [...costs].flatMap(([way, samples]) => findings(way, samples, costs.get(OPEN) ?? []));
    }),
};

function findings(way: string, samples: readonly Cost[], open: readonly Cost[]): Finding[] {
  const line = (what: string, unit: string, most: number | null, of: (cost: Cost) => number): Finding =>
    finding(12, `${way}, ${what}`, unit, samples.map(of), {
      ...(way !== OPEN && { yardstick: { name: OPEN, samples: open.map(of) } }),
      ...(way !== OPEN && most !== null && { target: ratio('at most', most) }),
    });
  return [
    line('CPU, service', 'ms per tx', 1.03, ({ service }) => service),
    line('CPU, database', 'ms per tx', way.includes('daily') ? null : 1.03, ({ database }) => database),
    line('SQL statements', 'per tx', way.includes('daily') ? null : 1.03, ({ statements }) => statements),
    line('rate at which it was measured', 'tx/s', null, ({ rate }) => rate),
  ];
}

import type { Bench, Row } from '../harness/bench.js';
import { cpuOf, cpuOfTree } from '../harness/cpu-time.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { RECEIVER } from '../harness/payload.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { serverCounts } from '../harness/server-counts.js';
import type { Stack, StackOptions } from '../harness/stack.js';

const SIGNERS = 100;
/** Of each way in a repetition. Between runs the CPU time of one tx differs by a tenth and more, with what else the machine does. */
const TURNS = 10;
const ETHER = 10n ** 18n;
/** All that is judged by itself, and nothing is refused. */
const POLICY = { to: [{ address: RECEIVER }], maxValue: String(ETHER), maxFee: String(ETHER) };
const DAILY = { dailyValue: String(1_000_000n * ETHER), dailyFees: String(1_000_000n * ETHER) };

const OPEN = 'nobody is asked';
/** The same as the first: how much of a difference is chance. */
const AGAIN = 'nobody is asked, again';
const WITH_DAILY = 'keys, policies and daily amounts';
const WAYS: readonly (readonly [name: string, Partial<StackOptions>])[] = [
  [OPEN, {}],
  [AGAIN, {}],
  ['keys and policies', { keys: true, policy: POLICY }],
  [WITH_DAILY, { keys: true, policy: { ...POLICY, ...DAILY } }],
];

/** Per tx: CPU milliseconds, and statements. */
interface Used {
  readonly service: number;
  readonly database: number;
  readonly statements: number;
}

interface Way {
  readonly name: string;
  readonly stack: Stack;
  readonly drive: Drive;
  /** Of each turn. */
  readonly samples: Used[];
}

/** Row 12: what it costs to ask who calls, and what each signer may sign. */
export const doorsRow: Row = {
  title: 'doors',
  run: (bench) =>
    withPostgres(true, (postgres) =>
      withWays(bench, postgres, [], async (ways) => {
        for (const { drive } of ways) await drive.warmUp(bench.sizes.warmUp);
        await bench.repeat((label) => takeTurns(bench, ways, label));
        for (const { drive } of ways) await drive.check();
        const open = ways.find(({ name }) => name === OPEN)?.samples ?? [];
        return ways.flatMap((way) => findings(way, open));
      }),
    ),
};

/** All of them at once, each with a chain and a node of its own: one that has nothing to do takes little. */
async function withWays<T>(
  bench: Bench,
  postgres: BenchPostgres,
  ways: readonly Way[],
  work: (ways: readonly Way[]) => Promise<T>,
): Promise<T> {
  const next = WAYS[ways.length];
  if (next === undefined) return work(ways);
  const [name, options] = next;
  return benchStack(bench, postgres, `row 12, ${name}`, { signers: SIGNERS, ...options }, (stack) =>
    withWays(bench, postgres, [...ways, { name, stack, drive: new Drive(stack), samples: [] }], work),
  );
}

async function takeTurns(bench: Bench, ways: readonly Way[], label: string): Promise<void> {
  const transactions = Math.ceil(bench.sizes.transactions / TURNS);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const first = turn % ways.length;
    for (const { name, stack, drive, samples } of [...ways.slice(first), ...ways.slice(0, first)])
      await bench.measure(
        `row 12, ${name}, ${label}, turn ${turn + 1}/${TURNS}`,
        samples,
        async () => {
          const before = await look(stack);
          await drive.run(transactions);
          const after = await look(stack);
          const each = (what: keyof Used): number => (after[what] - before[what]) / transactions;
          return { service: each('service'), database: each('database'), statements: each('statements') };
        },
        ({ service, database, statements }) =>
          `${service.toFixed(2)} ms service CPU, ${database.toFixed(2)} ms database CPU, ${statements.toFixed(2)} statements`,
      );
  }
}

async function look({ service, postgres, log }: Stack): Promise<Used> {
  const { statements } = await serverCounts(log);
  return { service: cpuOf(service.pid), database: cpuOfTree(postgres.pid), statements };
}

function findings({ name, samples }: Way, open: readonly Used[]): Finding[] {
  const line = (what: string, unit: string, hasTarget: boolean, of: (used: Used) => number): Finding =>
    finding(12, `${name}, ${what}`, unit, samples.map(of), {
      ...(name !== OPEN && { yardstick: { name: OPEN, samples: open.map(of), paired: true } }),
      ...(name !== OPEN && name !== AGAIN && hasTarget && { target: ratio('at most', 1.03) }),
    });
  return [
    line('CPU, service', 'ms per tx', true, ({ service }) => service),
    line('CPU, database', 'ms per tx', name !== WITH_DAILY, ({ database }) => database),
    line('SQL statements', 'per tx', name !== WITH_DAILY, ({ statements }) => statements),
  ];
}

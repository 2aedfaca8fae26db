import type { Bench, Row } from '../harness/bench.js';
import { Drive, type Throughput } from '../harness/drive.js';
import { type Finding, finding, ratio, value } from '../harness/finding.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { bareLoopFinding, measureBareLoop, plural, SIGNER_COUNTS } from './bare-loop.js';

/** The number of signers that is measured in every way, also with `--quick`. */
const FULL_SIGNERS = 100;

type Way = 'one node' | 'two nodes' | 'batches';

/** What is measured with one number of signers. */
interface Samples {
  readonly signers: number;
  readonly bare: number[];
  readonly ways: ReadonlyMap<Way, Throughput[]>;
}

/** Row 2, and row 1 as its yardstick: the repetitions of both take turns, so that a slow minute hits both. */
export const endToEndRow: Row = {
  title: 'bare loop and end to end',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const all = SIGNER_COUNTS.map((signers): Samples => ({ signers, bare: [], ways: waysFor(signers, bench) }));
      await bench.repeat(async (label) => {
        for (const { signers, bare, ways } of all) {
          await measureBareLoop(bench, signers, label, bare);
          for (const [way, runs] of ways) await measure(bench, postgres, signers, way, label, runs);
        }
      });
      return [...all.map(({ signers, bare }) => bareLoopFinding(signers, bare)), ...all.flatMap(findings)];
    }),
};

function waysFor(signers: number, { options }: Bench): ReadonlyMap<Way, Throughput[]> {
  const full = signers === FULL_SIGNERS;
  const ways: Way[] = [
    'one node',
    ...(full || !options.quick ? ['two nodes' as const] : []),
    ...(full ? ['batches' as const] : []),
  ];
  return new Map(ways.map((way) => [way, []]));
}

function measure(
  bench: Bench,
  postgres: BenchPostgres,
  signers: number,
  way: Way,
  label: string,
  runs: Throughput[],
): Promise<void> {
  const name = `row 2, ${plural(signers)}, ${way}, ${label}`;
  const nodes = way === 'two nodes' ? 2 : 1;
  const run = (): Promise<Throughput> =>
    benchStack(bench, postgres, name, { signers, nodes }, async (stack) => {
      const drive = new Drive(stack);
      await drive.warmUp(bench.sizes.warmUp);
      const result = await drive.run(bench.sizes.transactions, way === 'batches' ? 'batch' : 'single');
      await drive.check();
      return result;
    });
  return bench.measure(name, runs, run, inWords);
}

function inWords({ accepted, mined, confirmed, p50, p99 }: Throughput): string {
  return (
    `${accepted.toFixed(0)} accepted/s, ${mined.toFixed(0)} mined/s, ${confirmed.toFixed(0)} confirmed/s, ` +
    `POST p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  );
}

function findings({ signers, bare, ways }: Samples): Finding[] {
  const limit = { name: 'bare loop', samples: bare };
  const single = { name: 'one node', samples: (ways.get('one node') ?? []).map(({ mined }) => mined) };
  return [...ways].flatMap(([way, runs]) => {
    const line = `${plural(signers)}, ${way}`;
    const of = (which: keyof Throughput): number[] => runs.map((run) => run[which]);
    const confirmed = finding(2, `${line}, until CONFIRMED`, 'tx/s', of('confirmed'), { yardstick: limit });
    switch (way) {
      case 'one node': {
        const target = ratio('at least', signers === 1 ? 0.3 : 0.35);
        return [
          finding(2, `${line}, until MINED`, 'tx/s', of('mined'), { yardstick: limit, target }),
          confirmed,
          finding(2, `${line}, POST p50`, 'ms', of('p50'), { target: value('below', 20) }),
          finding(2, `${line}, POST p99`, 'ms', of('p99'), { target: value('below', 100) }),
        ];
      }
      case 'two nodes': {
        const target = ratio('at least', 0.9);
        return [finding(2, `${line}, until MINED`, 'tx/s', of('mined'), { yardstick: single, target }), confirmed];
      }
      case 'batches':
        return [finding(2, `${line}, until MINED`, 'tx/s', of('mined'), { yardstick: limit }), confirmed];
    }
  });
}

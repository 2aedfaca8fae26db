import type { Bench, Row } from '../harness/bench.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { countedSince, rpcCounts, total } from '../harness/rpc-counts.js';
import { SlowRpc } from '../harness/slow-rpc.js';

const SIGNER_COUNTS = [10, 100] as const;
const DELAYS_MS = [0, 50, 100] as const;

interface Run {
  /** Transactions per second until MINED. */
  readonly mined: number;
  /** For each transaction. */
  readonly calls: number;
  readonly requests: number;
}

interface Samples {
  readonly signers: number;
  readonly delayMs: number;
  readonly runs: Run[];
}

/** Row 5: the same work while every answer of the node takes longer. */
export const rpcLatencyRow: Row = {
  title: 'RPC latency',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const all = SIGNER_COUNTS.flatMap((signers) =>
        DELAYS_MS.map((delayMs): Samples => ({ signers, delayMs, runs: [] })),
      );
      await bench.repeat(async (label) => {
        for (const samples of all) await measure(bench, postgres, samples, label);
      });
      return all.flatMap((samples) => findings(samples, all));
    }),
};

function measure(bench: Bench, postgres: BenchPostgres, samples: Samples, label: string): Promise<void> {
  const { signers, delayMs, runs } = samples;
  const name = `row 5, ${signers} signers, ${delayMs} ms, ${label}`;
  return bench.measure(name, runs, () => slowRun(bench, postgres, name, signers, delayMs), inWords);
}

async function slowRun(
  bench: Bench,
  postgres: BenchPostgres,
  name: string,
  signers: number,
  delayMs: number,
): Promise<Run> {
  const { warmUp, fewer } = bench.sizes;
  const rpc = new SlowRpc(delayMs);
  try {
    const options = { signers, rpcUrl: (url: string): Promise<string> => rpc.listen(url) };
    return await benchStack(bench, postgres, name, options, async (stack) => {
      const drive = new Drive(stack);
      await drive.warmUp(warmUp);
      const before = { calls: await rpcCounts(stack.service), requests: rpc.requests };
      const { mined } = await drive.run(fewer);
      const calls = total(countedSince(before.calls, await rpcCounts(stack.service)));
      const requests = rpc.requests - before.requests;
      await drive.check();
      return { mined, calls: calls / fewer, requests: requests / fewer };
    });
  } finally {
    await rpc.stop();
  }
}

function inWords({ mined, calls, requests }: Run): string {
  return `${mined.toFixed(0)} mined/s, ${calls.toFixed(2)} calls and ${requests.toFixed(3)} HTTP requests per tx`;
}

function findings({ signers, delayMs, runs }: Samples, all: readonly Samples[]): Finding[] {
  const where = `${signers} signers, ${delayMs} ms`;
  const atOnce = all.find((other) => other.signers === signers && other.delayMs === 0)?.runs ?? [];
  const yardstick = { name: 'no delay', samples: atOnce.map(({ mined }) => mined) };
  const mined = runs.map((run) => run.mined);
  const compared = delayMs === 0 ? {} : delayMs === 100 ? { yardstick, target: ratio('at least', 0.8) } : { yardstick };
  return [
    finding(5, `${where}, until MINED`, 'tx/s', mined, compared),
    finding(
      5,
      `${where}, RPC calls`,
      'per tx',
      runs.map(({ calls }) => calls),
    ),
    finding(
      5,
      `${where}, HTTP requests to the node`,
      'per tx',
      runs.map(({ requests }) => requests),
    ),
  ];
}

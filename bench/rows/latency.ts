import type { Bench, Row } from '../harness/bench.js';
import { CONNECTIONS, Drive } from '../harness/drive.js';
import { type Finding, finding, value } from '../harness/finding.js';
import { fromList, PostClient } from '../harness/post-client.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { percentiles } from '../harness/spread.js';
import type { Stack } from '../harness/stack.js';

const SIGNERS = 10;
const RATES = [10, 100, 500] as const;

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

/** Milliseconds. */
interface Latency {
  readonly toBroadcast: Percentiles;
  readonly toMined: Percentiles;
  readonly answer: Percentiles;
  /** Transactions that were accepted and of which no broadcast was recorded: they are in no percentile. */
  readonly neverSeenSent: number;
}

interface Samples {
  readonly rate: number;
  readonly latencies: Latency[];
}

/** Row 4: requests come at a constant rate, whatever becomes of the ones before; times by the event log. */
export const latencyRow: Row = {
  title: 'latency',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const all = RATES.map((rate): Samples => ({ rate, latencies: [] }));
      await bench.repeat((label) => measureAll(bench, postgres, all, label));
      return all.flatMap(findings);
    }),
};

function measureAll(bench: Bench, postgres: BenchPostgres, all: readonly Samples[], label: string): Promise<void> {
  return benchStack(bench, postgres, `row 4, ${label}`, { signers: SIGNERS }, async (stack) => {
    const drive = new Drive(stack);
    await drive.warmUp(bench.sizes.warmUp);
    for (const { rate, latencies } of all) {
      const work = (): Promise<Latency> => atRate(stack, drive, rate, bench.sizes.rateSeconds);
      await bench.measure(`row 4, ${rate} tx/s, ${label}`, latencies, work, inWords);
    }
    await drive.check();
  });
}

async function atRate(stack: Stack, drive: Drive, rate: number, seconds: number): Promise<Latency> {
  const bodies = drive.bodies(rate * seconds);
  const mark = await stack.log.mark();
  const client = new PostClient(stack.urls, CONNECTIONS);
  try {
    const { latencies } = await client.openLoop('/api/v1/tx', fromList(bodies), rate);
    await drive.allFinal(bodies.length);
    return {
      toBroadcast: percentiles(await stack.log.intervals('queued', 'sent', mark)),
      toMined: percentiles(await stack.log.intervals('sent', 'mined', mark)),
      answer: percentiles(latencies),
      neverSeenSent: await stack.log.missing('queued', 'sent', mark),
    };
  } finally {
    await client.close();
  }
}

function inWords({ toBroadcast, toMined, answer, neverSeenSent }: Latency): string {
  const words = ({ p50, p99 }: Percentiles): string => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
  return (
    `accepted to broadcast ${words(toBroadcast)}; broadcast to seen mined ${words(toMined)}; POST ${words(answer)}; ` +
    `${neverSeenSent} never seen sent`
  );
}

function findings({ rate, latencies }: Samples): Finding[] {
  const lines = [
    ['accepted to broadcast', 'toBroadcast'],
    ['broadcast to seen mined', 'toMined'],
    ['POST', 'answer'],
  ] as const;
  const times = lines.flatMap(([what, step]) =>
    (['p50', 'p99'] as const).map((which) => {
      const samples = latencies.map((latency) => latency[step][which]);
      const aimed = rate === 100 && step === 'toBroadcast';
      const target = value('below', which === 'p50' ? 15 : 100);
      return finding(4, `${rate} tx/s, ${what}, ${which}`, 'ms', samples, aimed ? { target } : {});
    }),
  );
  const unseen = latencies.map(({ neverSeenSent }) => neverSeenSent);
  return [
    ...times,
    finding(4, `${rate} tx/s, never seen sent`, 'transactions', unseen, { target: value('at most', 0) }),
  ];
}

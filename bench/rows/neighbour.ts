import { poll } from '../../src/dev/poll.js';
import { accounts } from '../harness/accounts.js';
import type { Bench, Row } from '../harness/bench.js';
import { CONNECTIONS } from '../harness/drive.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { callData, RECEIVER, txBodies } from '../harness/payload.js';
import { type Poison, PoisonedRpc } from '../harness/poisoned-rpc.js';
import { fromList, PostClient } from '../harness/post-client.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { percentiles } from '../harness/spread.js';
import type { Stack } from '../harness/stack.js';

const OTHERS = 10;
const POISONED = 1_000;
const LONGEST_MS = 300_000;

/** Beside whom ten signers send. */
const WAYS = ['nobody', 'hangs', 'refuses'] as const;
type Way = (typeof WAYS)[number];

/** Of the ten signers. */
interface Beside {
  readonly mined: number;
  /** Milliseconds from accepted to broadcast. */
  readonly p50: number;
  readonly p99: number;
}

/** Row 10: ten signers alone, and beside one with 1,000 payloads whose estimates hang or are refused. */
export const neighbourRow: Row = {
  title: 'a neighbour in trouble',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const runs = new Map<Way, Beside[]>(WAYS.map((way) => [way, []]));
      await bench.repeat(async (label) => {
        for (const [way, samples] of runs)
          await bench.measure(`row 10, beside ${way}, ${label}`, samples, () => measure(bench, postgres, way), inWords);
      });
      return findings(runs);
    }),
};

async function measure(bench: Bench, postgres: BenchPostgres, way: Way): Promise<Beside> {
  const [poor = '', ...others] = accounts(OTHERS + 1).map(({ address }) => address);
  const poison: Poison | null = way === 'nobody' ? null : way;
  const wire = new PoisonedRpc(poor.toLowerCase(), poison);
  const options = { signers: OTHERS + 1, rpcUrl: (chainUrl: string) => wire.listen(chainUrl) };
  try {
    return await benchStack(bench, postgres, `row 10, ${way}`, options, async (stack) => {
      const { transactions, warmUp } = bench.sizes;
      await sent(stack, txBodies(others, warmUp, 0), warmUp);
      if (poison !== null) await post(stack, '/api/v1/tx/batch', poisoned(poor));
      return sent(stack, txBodies(others, transactions, warmUp), transactions);
    });
  } finally {
    await wire.stop();
  }
}

/** Sends payloads of the others, and waits until all are mined: what is poisoned never is. */
async function sent(stack: Stack, bodies: string[], transactions: number): Promise<Beside> {
  const { log } = stack;
  const mark = await log.mark();
  const startedAt = Date.now();
  await post(stack, '/api/v1/tx', bodies);
  const reached = await poll(LONGEST_MS, async () => {
    const mined = await log.reached('mined', mark);
    return mined.transactions >= transactions ? mined : null;
  });
  if (!reached) throw new Error(`of ${transactions} not all are mined: ${JSON.stringify(await log.states())}`);
  const { p50, p99 } = percentiles(await log.intervals('queued', 'sent', mark));
  return { mined: (transactions * 1_000) / (reached.last - startedAt), p50, p99 };
}

/** Batches of payloads whose gas has to be estimated. */
function poisoned(signer: string): string[] {
  const items = Array.from({ length: POISONED }, (_, n) => ({
    signer,
    requestId: `poisoned-${n}`,
    payload: { to: RECEIVER, data: callData(n) },
  }));
  return [items.slice(0, POISONED / 2), items.slice(POISONED / 2)].map((some) => JSON.stringify({ items: some }));
}

async function post(stack: Stack, path: string, bodies: string[]): Promise<void> {
  const client = new PostClient(stack.urls, CONNECTIONS);
  try {
    await client.closedLoop(path, fromList(bodies));
  } finally {
    await client.close();
  }
}

function inWords({ mined, p50, p99 }: Beside): string {
  return `${mined.toFixed(0)} mined/s, accepted to broadcast p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
}

function findings(runs: ReadonlyMap<Way, readonly Beside[]>): Finding[] {
  const alone = runs.get('nobody') ?? [];
  return [...runs].flatMap(([way, samples]) => {
    const line = (what: string, unit: string, of: (one: Beside) => number, target = ratio('at most', 2)): Finding => {
      const yardstick = { name: 'nobody', samples: alone.map(of) };
      return finding(
        10,
        `beside ${way}, ${what}`,
        unit,
        samples.map(of),
        way === 'nobody' ? {} : { yardstick, target },
      );
    };
    return [
      line('until MINED', 'tx/s', ({ mined }) => mined, ratio('at least', 0.5)),
      line('accepted to broadcast, p50', 'ms', ({ p50 }) => p50),
      line('accepted to broadcast, p99', 'ms', ({ p99 }) => p99),
    ];
  });
}

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster, LEASE_MS } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { until } from '../support/until.js';

/** 20 for the numbers of the docs: `FAILOVER_RUNS=20 npm run test:chaos -- failover`. */
const RUNS = Number(process.env['FAILOVER_RUNS'] ?? 5);
const [SIGNER] = DEV_ACCOUNTS;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, viaProxies: true });
  await cluster.create(SIGNER, 'first');
});

afterAll(() => cluster.stop());

interface Ending {
  readonly name: string;
  readonly end: (owner: ClusterNode) => Promise<void>;
  /** Whether the owner may act until its process is gone, so that the time counts from there. */
  readonly graceful: boolean;
}

/** From the end of the owner to the first transaction of the next one that reaches the chain. Milliseconds. */
async function failover(run: number, { name, end, graceful }: Ending): Promise<number> {
  const owner = await cluster.nextOwner(SIGNER);
  const next = cluster.nodes.find((node) => node !== owner);
  if (!next) throw new Error('there are two nodes');
  const work = { over: false };
  // There is always work; clients ask the one that stays.
  const clients = (async () => {
    for (let n = 0; !work.over; n += 1) {
      await cluster.create(SIGNER, `${name}-${run}-${n}`, [next]);
      await sleep(50);
    }
  })();
  clients.catch(() => {});
  await until('the owner sends', async () => owner.links.rpc.sent.length > 0);
  const signalledAt = performance.now();
  await end(owner);
  const endedAt = performance.now();
  let first: number | undefined;
  await until('the next node sends', async () => {
    first = next.links.rpc.sent.find((sending) => sending.at >= signalledAt)?.at;
    return first !== undefined;
  });
  work.over = true;
  await clients;
  await owner.start();
  return Math.max(0, (first ?? 0) - (graceful ? endedAt : signalledAt));
}

async function measure(ending: Ending): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) times.push(Math.round(await failover(run, ending)));
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  process.stdout.write(
    `failover ${ending.name}, ${RUNS} runs, lease ${LEASE_MS} ms: min ${at(0)}, p50 ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)} ms; all ${times.join(' ')}\n`,
  );
  return times;
}

/** The fault happened, because the owner of the lease ended by SIGKILL; the time is read where the chain is reached. */
it('after kill -9 of the owner the next node sends within the lease and two seconds', async () => {
  const times = await measure({
    name: 'kill -9',
    graceful: false,
    end: async (owner) => expect(await owner.kill()).toEqual({ code: null, signal: 'SIGKILL' }),
  });
  expect(Math.max(...times)).toBeLessThanOrEqual(LEASE_MS + 2_000);
});

/** The owner really ended in good order: its exit code is 0. Counted from its exit, for until then it finishes its own work. */
it('after a graceful stop of the owner the next node sends within a second', async () => {
  const times = await measure({
    name: 'SIGTERM',
    graceful: true,
    end: async (owner) => expect(await owner.stop()).toBe(0),
  });
  expect(Math.max(...times)).toBeLessThan(1_000);
  await cluster.expectExactlyOnce();
});

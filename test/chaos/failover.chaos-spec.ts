import { afterEach, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster, LEASE_MS } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { distribution, median } from '../support/distribution.js';
import { until } from '../support/until.js';

/** 20 for the numbers of the docs: `FAILOVER_RUNS=20 npm run test:chaos -- failover`. */
const RUNS = Number(process.env['FAILOVER_RUNS'] ?? 5);
const TIMEOUT_MS = 60_000 + RUNS * 15_000;
const [SIGNER] = DEV_ACCOUNTS;

let cluster: Cluster;

afterEach(() => cluster.stop());

interface Ending {
  readonly name: string;
  readonly leaseMs: number;
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
  const lease = { duration: `${ending.leaseMs}ms`, renewInterval: '600ms', clockSkewAllowance: '200ms' };
  cluster = await Cluster.start({ nodes: 2, viaProxies: true, config: { lease } });
  await cluster.create(SIGNER, 'first');
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) times.push(Math.round(await failover(run, ending)));
  process.stdout.write(
    `failover after ${ending.name}, lease ${ending.leaseMs} ms, ${distribution(times)}; all ${times.join(' ')}\n`,
  );
  return times;
}

/** The fault happened, because the owner of the lease ended by SIGKILL; the time is read where the chain is reached. */
it(
  'after kill -9 of the owner the next node sends within the lease and two seconds',
  async () => {
    const times = await measure({
      name: 'kill -9',
      leaseMs: LEASE_MS,
      graceful: false,
      end: async (owner) => expect(await owner.kill()).toEqual({ code: null, signal: 'SIGKILL' }),
    });
    expect(median(times)).toBeLessThanOrEqual(LEASE_MS + 2_000);
  },
  TIMEOUT_MS,
);

/**
 * The owner really ended in good order: its exit code is 0. Counted from its exit, for until then it finishes its own work. The lease is far
 * longer than anything waits here, so the next node did not wait for its end, however busy the machine is.
 */
it(
  'after a graceful stop of the owner the next node sends at once, whatever is left of the lease',
  async () => {
    await measure({
      name: 'SIGTERM',
      leaseMs: 30 * 60_000,
      graceful: true,
      end: async (owner) => expect(await owner.stop()).toBe(0),
    });
    await cluster.expectExactlyOnce();
  },
  TIMEOUT_MS,
);

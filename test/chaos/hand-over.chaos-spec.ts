import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

const LEASE_MS = 6_000;

let cluster: Cluster;

beforeAll(async () => {
  // A node that the machine has no time for is not gone: what is tested is that nothing moves while all are there.
  const lease = { duration: `${LEASE_MS}ms`, renewInterval: '600ms', clockSkewAllowance: '200ms' };
  cluster = await Cluster.start({ nodes: 3, blockTime: 0.5, config: { lease } });
});

afterAll(() => cluster.stop());

/** Each change of hands of a signer is one more. */
async function tokens(): Promise<bigint[]> {
  const leases = await Promise.all(DEV_ACCOUNTS.map((signer) => cluster.database.lease(signer)));
  return leases.map((lease) => lease?.token ?? 0n);
}

/** Those that stay for longer than a node is remembered after its last heartbeat. */
async function settledTokens(): Promise<bigint[]> {
  const seen = [await tokens()];
  await until('no signer changes hands', async () => {
    await sleep(1.25 * LEASE_MS);
    seen.unshift(await tokens());
    return String(seen[0]) === String(seen[1]);
  });
  return seen[0] ?? [];
}

async function created(): Promise<number> {
  const counts = await Promise.all(cluster.nodes.map((node) => node.metric('tx_create_total')));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * There was something to move, because every signer has an owner and there is work for it all the time; and there was time to
 * move it, because each node sends several heartbeats meanwhile. The node that joins has joined, because it says in its log
 * which signers it took, and those are the ones whose tokens have grown.
 */
it('signers stay where they are while nobody comes or goes, and change hands at most once when a node joins', async () => {
  const steady = cluster.clients.keepCreating(DEV_ACCOUNTS, 'steady', { each: 1, pauseMs: 200 });
  const before = await settledTokens();
  const createdBefore = await created();
  await sleep(1.5 * LEASE_MS);
  expect(await tokens()).toEqual(before);
  expect(before.every((token) => token > 0n)).toBe(true);
  expect(await created()).toBeGreaterThan(createdBefore + 50);

  const joining = await cluster.add();
  let after = await settledTokens();
  while (after.every((token, index) => token === before[index])) {
    // Which signers a node gets is up to its id, so it may be none; it comes again as another one.
    expect(await joining.stop()).toBe(0);
    await joining.start();
    after = await settledTokens();
  }
  await steady.stop();
  for (const [index, token] of after.entries()) expect(token - (before[index] ?? 0n)).toBeLessThanOrEqual(1n);
  const taken = joining.service.logged('lease acquired');
  expect(taken).toHaveLength(after.filter((token, index) => token !== before[index]).length);
  await cluster.expectExactlyOnce();
});

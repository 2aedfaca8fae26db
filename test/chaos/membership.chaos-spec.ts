import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

const SIGNERS = DEV_ACCOUNTS.slice(0, 5);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2 });
});

afterAll(() => cluster.stop());

async function owners(): Promise<Set<string>> {
  const found = await Promise.all(SIGNERS.map((signer) => cluster.leaseOwner(signer)));
  return new Set(found.flatMap((node) => (node ? [node.name] : [])));
}

/** The restarts happened, because every node ends with exit code 0 and comes back with another pid, while creates go on. */
it('a rolling restart of every node under load loses nothing', async () => {
  const creating = cluster.clients.keepCreating(SIGNERS, 'rolling');
  for (const node of cluster.nodes) {
    await until('it has work', async () => (await owners()).size > 0);
    const { pid } = node.service;
    expect(await node.stop()).toBe(0);
    await node.start();
    expect(node.service.pid).not.toBe(pid);
  }
  await creating.stop();
  await cluster.expectExactlyOnce();
});

/** The change happened, because the number of live processes is counted, and the last one owns every signer at the end. */
it('from one node to four and back under load loses nothing', async () => {
  expect(await cluster.node(1).stop()).toBe(0);
  const creating = cluster.clients.keepCreating(SIGNERS, 'scale');
  await Promise.all([cluster.node(1).start(), cluster.add(), cluster.add()]);
  expect(cluster.nodes.filter((node) => node.answers)).toHaveLength(4);
  await cluster.createMany(SIGNERS, 'four', 10);
  for (const node of cluster.nodes.slice(0, 3)) expect(await node.stop()).toBe(0);
  expect(cluster.nodes.filter((node) => node.answers)).toHaveLength(1);
  await cluster.createMany(SIGNERS, 'one', 5);
  await creating.stop();
  await cluster.expectExactlyOnce();
  expect([...(await owners())]).toEqual([cluster.node(3).name]);
});

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import type { LinkMode } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, viaProxies: true, chain: { rpcTimeout: '1s' } });
});

afterEach(() => {
  for (const { links } of cluster.nodes) {
    links.database.heal();
    links.chain.heal();
    links.rpc.heal();
  }
});

afterAll(() => cluster.stop());

async function ownerOf(signer: string): Promise<ClusterNode> {
  await cluster.create(signer, 'first');
  return cluster.nextOwner(signer);
}

/*
 * The fault happened, because: the proxy on the owner's link counts what it has reset or swallowed; the process is the same
 * all the time, so it is the link that failed; its readiness is red; and another node logs that it took the next token.
 */
it.each<{ mode: LinkMode; index: number; counter: 'resets' | 'swallowed' }>([
  { mode: 'cut', index: 0, counter: 'resets' },
  { mode: 'black-hole', index: 1, counter: 'swallowed' },
])('an owner cut off from the database ($mode) loses the signer to another node, and joins again', async (fault) => {
  const signer = DEV_ACCOUNTS[fault.index] ?? '';
  const owner = await ownerOf(signer);
  const { database } = owner.links;
  const [pid, counted] = [owner.service.pid, database.counters[fault.counter]];
  const creates = cluster.createMany([signer], 'cut', 40);
  database.set(fault.mode);
  const next = await cluster.nextOwner(signer, owner);
  await until('the owner is not ready', async () => (await owner.service.get('/health/ready')).status === 503);
  expect(database.counters[fault.counter]).toBeGreaterThan(counted);
  await creates;
  await cluster.allConfirmed();

  database.heal();
  await until('it is ready again', async () => (await owner.service.get('/health/ready')).status === 200);
  expect(owner.service.pid).toBe(pid);
  await next.kill();
  await cluster.createMany([signer], `healed-${fault.mode}`, 20);
  await next.start();
  await cluster.expectExactlyOnce();
});

/** The fault happened, because the proxy counts resets, and no call of this node reaches the endpoint behind it any more. */
it('an owner cut off from the RPC only keeps its lease, sends nothing new, and goes on when the RPC is back', async () => {
  const signer = DEV_ACCOUNTS[2];
  const owner = await ownerOf(signer);
  const { chain, rpc } = owner.links;
  chain.set('cut');
  const [resets, calls] = [chain.counters.resets, rpc.sent.length];
  await cluster.createMany([signer], 'cut', 30);
  await until('it has tried', async () => chain.counters.resets > resets + 5);
  expect(rpc.sent.length).toBe(calls);
  chain.heal();
  await cluster.expectExactlyOnce();
});

/** The fault happened, because the endpoint counts the answers it has spoilt, and the transactions it had delivered before. */
it('an RPC that takes transactions and then resets, fails, falls silent or lies doubles nothing, also when the owner dies on it', async () => {
  const signer = DEV_ACCOUNTS[3];
  const owner = await ownerOf(signer);
  const { rpc } = owner.links;
  const [faults, sent] = [rpc.faults, rpc.sent.length];
  // One after the other; the last one stays.
  rpc.fail('eth_sendRawTransaction', { kind: 'reset' }, 1);
  rpc.fail('eth_sendRawTransaction', { kind: 'status', status: 502 }, 1);
  rpc.fail('eth_sendRawTransaction', { kind: 'status', status: 429 }, 1);
  rpc.fail('eth_sendRawTransaction', { kind: 'silence' }, 1);
  rpc.fail('eth_sendRawTransaction', { kind: 'wrong-hash' });
  await until('every kind of answer was spoilt', async () => {
    await cluster.create(signer, `lost-answer-${performance.now()}`);
    return rpc.faults >= faults + 5;
  });
  expect(rpc.sent.length).toBeGreaterThan(sent);
  expect(await owner.kill()).toMatchObject({ signal: 'SIGKILL' });
  rpc.heal();
  await owner.start();
  await cluster.expectExactlyOnce();
});

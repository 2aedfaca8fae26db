import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { withoutGasLimit } from '../support/cluster-clients.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { processState } from '../support/process-state.js';
import { until } from '../support/until.js';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, viaProxies: true });
});

afterAll(() => cluster.stop());

/**
 * Where the owner stands when it is paused: the call whose answer it waits for, and the write that follows. An estimate that is there when
 * the process goes on is followed by the allocation; one that is not, by the note that it took too long.
 */
const MOMENTS = [
  { before: 'its verdict on what waits', call: 'eth_estimateGas', writes: ['end_pending', 'allocate'] },
  { before: 'its record of what it has sent', call: 'eth_sendRawTransaction', writes: ['record'] },
];

/** How many of these writes of the node the database refused. */
async function refused(node: ClusterNode, writes: readonly string[]): Promise<number> {
  const counts = await Promise.all(writes.map((write) => node.metric('lease_fenced_total', `"${write}"`)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/*
 * The fault happened, because: the owner is stopped (state T in /proc) while its call is held back, so it stands in the
 * middle of a lane step; the token grows and another node logs that it has it; and after SIGCONT the very process that was
 * stopped counts a write that the database refused, in lease_fenced_total, by the name of the write.
 */
it.each(MOMENTS.map((moment, index) => ({ ...moment, index })))(
  'an owner that is paused past its expiry right before $before writes nothing any more',
  async ({ call, writes, index }) => {
    const signer = DEV_ACCOUNTS[index] ?? '';
    await cluster.create(signer, `first-${index}`);
    await cluster.allConfirmed();
    const token = (await cluster.database.lease(signer))?.token ?? 0n;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    // At both nodes: an idle signer may be handed over, and who owns it is seen by who calls.
    const nodes = await Promise.all(
      cluster.nodes.map(async (node) => {
        node.links.rpc.fail(call, { kind: 'hold', until: released });
        return { node, faults: node.links.rpc.faults, fenced: await refused(node, writes) };
      }),
    );
    const waiting = (): (typeof nodes)[number] | undefined =>
      nodes.find(({ node, faults }) => node.links.rpc.faults > faults);
    const creates = cluster.createMany([signer], `moment-${index}`, 30);
    const estimated = `estimated-${index}`;
    await cluster.clients.create(signer, estimated, undefined, withoutGasLimit(signer, estimated));
    await until('the owner waits for the answer', async () => waiting() !== undefined);
    const owned = waiting();
    if (!owned) throw new Error('nobody calls');
    const { node: owner, fenced: fencedBefore } = owned;
    const { pid } = owner.service;
    owner.pause();
    for (const { node } of nodes) if (node !== owner) node.links.rpc.heal();
    const next = await cluster.nextOwner(signer, owner);
    await creates;
    await until('the next owner has sent', async () => next.links.rpc.count('eth_sendRawTransaction') > 0);
    expect(processState(pid)).toBe('T');
    owner.links.rpc.heal();
    release();
    owner.resume();

    await until('the late write is refused', async () => (await refused(owner, writes)) > fencedBefore);
    expect(owner.service.pid).toBe(pid);
    expect(owner.service.logged('lease lost').length).toBeGreaterThan(0);
    await cluster.expectExactlyOnce();
    expect((await cluster.database.lease(signer))?.token).toBeGreaterThan(token);
  },
);

it('pauses at random moments under load double nothing', async () => {
  const signers = DEV_ACCOUNTS.slice(4, 8);
  const creates = cluster.createMany(signers, 'random', 60);
  for (let n = 0; n < 4; n += 1) {
    const node = cluster.node(n % 2);
    node.pause();
    await cluster.nextOwner(signers[0] ?? '', node);
    expect(processState(node.service.pid)).toBe('T');
    node.resume();
    await cluster.createMany(signers, `after-pause-${n}`, 5);
  }
  await creates;
  await cluster.expectExactlyOnce();
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { countByInput, readChain } from '../support/chain-reader.js';
import { expectOnePayloadPerNonce } from '../support/chain-witness.js';
import { Cluster } from '../support/cluster.js';
import { withoutGasLimit } from '../support/cluster-clients.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { until } from '../support/until.js';

/*
 * A suite that finds nothing proves nothing until it has found something. Here the built app runs with one protection taken
 * away (test/support/planted-bug.mjs), and the checks that every other file ends with must fail. The bug was in, because
 * each process says so in its log; the scenarios have one order of events only, so nothing depends on luck.
 */
const PLANTING = new URL('../support/planted-bug.mjs', import.meta.url).href;
const [SIGNER] = DEV_ACCOUNTS;
const BLOCK_S = 0.25;
/** Without routing: a hand-over between two lines of the scenario would make another node the owner. */
const ONE_AT_A_TIME = { execution: { maxInFlight: 1, mode: 'basic' } };

let anvil: RunningAnvil;
let cluster: Cluster;

beforeEach(async () => {
  anvil = await startAnvil({ blockTime: BLOCK_S });
});

afterEach(async () => {
  await cluster.stop();
  await anvil.kill();
});

async function start(bug: string | null, config: Record<string, unknown> = {}): Promise<void> {
  const env = (): Record<string, string> =>
    bug === null ? {} : { NODE_OPTIONS: `--import=${PLANTING}`, PLANTED_BUG: bug };
  cluster = await Cluster.start({ nodes: 2, viaProxies: true, rpcUrl: anvil.url, env, config });
  for (const { service } of cluster.nodes) expect(service.logged('bug planted')).toHaveLength(bug === null ? 0 : 1);
}

function other(node: ClusterNode): ClusterNode {
  const found = cluster.nodes.find((one) => one !== node);
  if (!found) throw new Error('there are two nodes');
  return found;
}

/**
 * The owner is paused while it waits for an estimate. Its heir, with room for one transaction, takes a more urgent one and leaves this one
 * waiting; so when the owner goes on, nothing but the fence is between it and its late writes: that the estimate took too long, and soon
 * the allocation.
 */
async function lateAllocation(): Promise<ClusterNode> {
  await cluster.create(SIGNER, 'first');
  const owner = await cluster.nextOwner(SIGNER);
  await cluster.allConfirmed();
  // No block, so that the heir has no room again.
  await callRpc(anvil.url, 'evm_setIntervalMining', [0]);
  let release = (): void => {};
  const { rpc } = owner.links;
  rpc.fail('eth_estimateGas', { kind: 'hold', until: new Promise<void>((resolve) => (release = resolve)) });
  const { faults } = rpc;
  await cluster.clients.create(SIGNER, 'late', undefined, withoutGasLimit(SIGNER, 'late'));
  await until('the owner waits for its estimate', async () => rpc.faults > faults);
  owner.pause();
  await cluster.clients.create(SIGNER, 'urgent', [other(owner)], { priority: 10 });
  await cluster.nextOwner(SIGNER, owner);
  await until('the heir has sent', async () => (await cluster.database.countByState('urgent'))['IN_MEMPOOL'] === 1);
  expect(await cluster.database.countByState('late')).toEqual({ PENDING: 1 });
  rpc.heal();
  release();
  owner.resume();
  return owner;
}

it('a paused owner without a fence makes a stale write, and the suite finds it', async () => {
  await start('no-fence', ONE_AT_A_TIME);
  await lateAllocation();
  await until('it has allocated', async () => (await cluster.database.staleWrites()).length > 0);
  await callRpc(anvil.url, 'evm_setIntervalMining', [1]);
  await expect(cluster.expectExactlyOnce()).rejects.toThrow(/fencing_token/);
});

it('a paused owner with its fence makes none in the same place, and the suite finds nothing', async () => {
  await start(null, ONE_AT_A_TIME);
  const owner = await lateAllocation();
  // Which of the two late writes it is depends on whether the estimate was there when the process went on.
  await until('it is refused', async () => (await owner.metric('lease_fenced_total')) > 0);
  await callRpc(anvil.url, 'evm_setIntervalMining', [1]);
  await cluster.expectExactlyOnce();
});

it('an owner that comes back with a cursor of its own signs a second payload for a slot, and the suite finds it', async () => {
  await start('cursor-in-memory');
  await cluster.create(SIGNER, 'by the owner');
  const owner = await cluster.nextOwner(SIGNER);
  await cluster.allConfirmed();
  owner.pause();
  const heir = other(owner);
  await cluster.create(SIGNER, 'by the heir', [heir]);
  await cluster.allConfirmed();
  owner.resume();
  expect(await heir.stop()).toBe(0);
  await cluster.create(SIGNER, 'by the owner again', [owner]);
  await until('two payloads share a slot', async () => (await cluster.database.sharedSlots()).length > 0);
  const sent = (): { raw: string }[] => cluster.nodes.flatMap(({ links }) => links.rpc.sent);
  await until('both were sent', async () => new Set(sent().map(({ raw }) => raw)).size === 3);
  expect(() => expectOnePayloadPerNonce(sent())).toThrow(/1/);
});

it('a recovery that gives payloads new nonces executes them twice, and the suite finds it', async () => {
  await start('requeueing-recovery');
  const crashing = cluster.node(0);
  expect(await crashing.stop()).toBe(0);
  await crashing.start({ LOCKSTEP_CRASH_AT: 'after_broadcast' });
  const heir = other(crashing);
  heir.pause();
  const creates = cluster.createMany([SIGNER], 'twice', 5);
  expect(await crashing.service.exited).toEqual({ code: null, signal: 'SIGKILL' });
  heir.resume();
  await creates;
  await until('a payload is on chain twice', async () =>
    [...countByInput(await readChain(anvil.url)).values()].some((count) => count > 1),
  );
  await expect(cluster.expectExactlyOnce()).rejects.toThrow(/inputs/);
});

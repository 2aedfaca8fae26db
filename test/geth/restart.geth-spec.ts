import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { TransferLedger } from '../support/transfer-ledger.js';
import { until } from '../support/until.js';

const [WAITING, HALF] = DEV_ACCOUNTS;

let geth: Geth;
let cluster: Cluster;

/** A block has room for 100 transfers. Without a journal geth forgets its pool when it ends; it keeps its chain. */
beforeAll(async () => {
  const flags = ['--txpool.nolocals', '--txpool.journal', ''];
  geth = await Geth.start({ held: true, genesis: { gasLimit: 100n * 21_000n }, flags });
  cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

/** While no node of ours can send anything. */
async function bootWithEmptyPool(): Promise<void> {
  for (const node of cluster.nodes) node.pause();
  await geth.boot();
  expect(await geth.pool()).toEqual({ pending: 0, queued: 0 });
  for (const node of cluster.nodes) node.resume();
}

it('200 in flight, and what was created while geth was down, are CONFIRMED after it comes back with an empty pool', async () => {
  const ledger = new TransferLedger(cluster, WAITING, 1);
  await ledger.create(200);
  await until('all are in the pool', async () => (await geth.pool()).pending === 200);
  await geth.kill();
  await ledger.create(10);
  await bootWithEmptyPool();
  await until('all are in the pool again', async () => (await geth.pool()).pending === 210);
  expect(await geth.call('eth_getTransactionCount', WAITING, 'latest')).toBe('0x0');
  await geth.release();
  await ledger.expectEachPaidOnce();
});

it('a geth that forgets its pool between two blocks of ours gets the rest again', async () => {
  const ledger = new TransferLedger(cluster, HALF, 2);
  const created = ledger.create(400);
  const minedOf = async (): Promise<number> => Number(await geth.call('eth_getTransactionCount', HALF, 'latest'));
  await until('a block has some of them', async () => (await minedOf()) > 0);
  await geth.kill();
  await bootWithEmptyPool();
  expect(await minedOf()).toBeLessThan(400);
  await created;
  await until('the others are in the pool', async () => (await geth.pool()).pending + (await minedOf()) === 400);
  await geth.release();
  await ledger.expectEachPaidOnce();
});

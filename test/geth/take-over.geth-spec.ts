import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { TransferLedger } from '../support/transfer-ledger.js';
import { until } from '../support/until.js';

const [KILLED, BUSY] = DEV_ACCOUNTS;

let geth: Geth;
let cluster: Cluster;

beforeAll(async () => {
  geth = await Geth.start({ held: true });
  cluster = await Cluster.start({ nodes: 3, rpcUrl: geth.url });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

/** Both kills were in time, because the pool had a part of the 500 and then all, and no block had one of them. */
it('two kill -9, while 500 are sent and when all 500 are in flight, and each payload is executed once', async () => {
  const ledger = new TransferLedger(cluster, KILLED, 1);
  const created = ledger.create(500);
  await until('a part is in the pool', async () => (await geth.pool()).pending >= 50);
  const first = await cluster.nextOwner(KILLED);
  expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect((await geth.pool()).pending).toBeLessThan(500);
  await created;

  const second = await cluster.nextOwner(KILLED, first);
  await until('all are in the pool', async () => (await geth.pool()).pending === 500);
  expect(await second.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(await geth.call('eth_getTransactionCount', KILLED, 'latest')).toBe('0x0');

  await cluster.nextOwner(KILLED, second);
  await geth.release();
  await ledger.expectEachPaidOnce();
  expect(await cluster.database.sharedSlots()).toEqual([]);
  expect(await cluster.database.staleWrites()).toEqual([]);
});

it('1,000 on one signer take the next 1,000 nonces', async () => {
  await Promise.all(cluster.nodes.filter((node) => !node.answers).map((node) => node.start()));
  const ledger = new TransferLedger(cluster, BUSY, 2);
  await ledger.create(1_000);
  await ledger.expectEachPaidOnce();
});

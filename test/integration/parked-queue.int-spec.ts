import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { configFrom } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { WatchBalances } from '../../src/modules/lanes/application/watch-balances.js';
import { Database } from '../../src/platform/database/database.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { aRequest, DEV_CHAIN } from '../support/builders.js';
import { knowNonce } from '../support/known-nonce.js';
import { makeDue, makeWaitingDue } from '../support/node-lab.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestNode } from '../support/test-node.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';

const ETHER = 10n ** 18n;

let anvil: RunningAnvil;
let chains: ConfiguredChains;
let database: TestDatabase;
let node: TestNode;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: DEV_CHAIN, extraArgs: ['--no-mining'] });
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [{ id: DEV_CHAIN, rpcUrls: [anvil.url] }],
  });
  chains = new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), new RecordingLog());
});

afterAll(async () => {
  await chains.close();
  await anvil.stop();
});

beforeEach(async () => {
  database = await createTestDatabase();
  node = await TestNode.start(database.url, chains.get(DEV_CHAIN));
  await knowNonce(node, anvil.url);
  await mine();
});

afterEach(async () => {
  await node.close();
  await database.drop();
});

async function mine(): Promise<void> {
  await callRpc(anvil.url, 'evm_mine', []);
  await node.follow();
}

async function setBalance(wei: bigint): Promise<void> {
  await callRpc(anvil.url, 'anvil_setBalance', [node.signer().address, `0x${wei.toString(16)}`]);
  await mine();
}

async function create(requestId: string, value: bigint, priority = 0): Promise<string> {
  const base = aRequest({ signer: node.signer() });
  return (await node.create({ ...base, requestId, priority, payload: { ...base.payload, value } })).txId;
}

const watch = (): Promise<unknown> => node.get(WatchBalances).execute(chains.get(DEV_CHAIN), [node.signer()]);

async function standing(...ids: readonly string[]): Promise<string[]> {
  const txs = await Promise.all(ids.map((id) => node.tx(id)));
  return txs.map(({ state, subState }) => (subState === null ? state : `${state} ${subState}`));
}

async function balanceEvents(): Promise<string[]> {
  const text = `SELECT reason FROM tx_event WHERE signer IS NOT NULL AND fencing_token IS NOT NULL ORDER BY seq`;
  const { rows } = await node.get(Database).query<{ reason: string }>({ name: 'test_balance_events', text }, []);
  return rows.map(({ reason }) => reason);
}

it('a queue whose funds end in the middle waits in order, and goes on after a top-up without an operator', async () => {
  await setBalance(ETHER);
  const ids = [
    await create('a', ETHER / 5n),
    await create('b', ETHER / 5n),
    await create('large', 5n * ETHER),
    await create('d', ETHER / 10n),
    await create('e', ETHER / 10n),
  ];
  await node.step();
  const parked = ['PENDING INSUFFICIENT_FUNDS', 'PENDING', 'PENDING'];
  expect(await standing(...ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', ...parked]);

  await mine();
  await watch();
  expect(await balanceEvents()).toEqual(['balance_low']);
  for (const _ of [1, 2]) {
    // The first time with the timer run out, the second time with the timer running.
    if (_ === 1) await makeWaitingDue(node);
    await node.step();
    expect(await standing(...ids)).toEqual(['MINED', 'MINED', ...parked]);
  }
  const urgent = await create('urgent', 1n, 1);
  await node.step();
  expect(await standing(urgent)).toEqual(['IN_MEMPOOL']);

  await setBalance(10n * ETHER);
  await watch();
  await node.step();
  await mine();
  for (let n = 0; n < 3; n += 1) await mine();
  const all = [ids[0], ids[1], urgent, ...ids.slice(2)].map(String);
  expect(await standing(...all)).toEqual(all.map(() => 'CONFIRMED'));
  const nonces = (await Promise.all(all.map((id) => node.tx(id)))).map(({ nonce }) => Number(nonce));
  expect(nonces).toEqual(nonces.map((_, index) => Number(nonces[0]) + index));

  await create('last', 1n);
  await watch();
  expect(await balanceEvents()).toEqual(['balance_low', 'balance_restored']);
});

it('a sent tx whose funds are gone is never closed, whatever the number of refusals, and is mined after a top-up', async () => {
  await node.close();
  node = await TestNode.start(database.url, chains.get(DEV_CHAIN), {}, ({ resubmit }) =>
    Object.assign(resubmit, { maxRefusals: 2, maxRefusalsInDoubt: 3 }),
  );
  await setBalance(ETHER);
  const ids = [await create('first', ETHER / 5n), await create('second', ETHER / 5n)];
  await node.step();
  expect(await standing(...ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  await callRpc(anvil.url, 'anvil_dropAllTransactions', []);
  await setBalance(1n);
  for (let n = 0; n < 6; n += 1) {
    await makeDue(node);
    await node.resubmit();
    await node.step();
  }
  expect(await standing(...ids)).toEqual(['IN_MEMPOOL INSUFFICIENT_FUNDS', 'IN_MEMPOOL INSUFFICIENT_FUNDS']);

  await setBalance(10n * ETHER);
  await watch();
  await node.resubmit();
  for (let n = 0; n < 4; n += 1) await mine();
  expect(await standing(...ids)).toEqual(['CONFIRMED', 'CONFIRMED']);
});

it('a look that finds no more funds than the one before makes nothing due', async () => {
  await setBalance(ETHER);
  const large = await create('large', 5n * ETHER);
  await node.step();
  await watch();
  await node.step();
  const { nextResubmitAt } = await node.tx(large);
  await watch();
  expect((await node.tx(large)).nextResubmitAt).toBe(nextResubmitAt);
  await setBalance(2n * ETHER);
  await watch();
  expect(Date.parse(String((await node.tx(large)).nextResubmitAt))).toBeLessThan(Date.parse(String(nextResubmitAt)));
});

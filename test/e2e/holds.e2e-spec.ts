import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { JsonRpcProvider, keccak256 } from 'ethers';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { devWallet } from '../support/dev-wallets.js';
import { EventBodyRules } from '../support/event-body-rules.js';
import { type AnyBody, type HttpAnswer, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const SIGNER = DEV_ACCOUNTS[0].toLowerCase();
const TO = DEV_ACCOUNTS[1];
const NONCES = `/api/v1/signers/${DEV_CHAIN}/${SIGNER}/nonces`;

let anvil: RunningAnvil;
let database: TestDatabase;
let nodes: [Service, Service];
let provider: JsonRpcProvider;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  provider = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  const start = () =>
    Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config: { confirmations: { required: 2 } } });
  nodes = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  provider.destroy();
  await anvil.stop();
  await database.drop();
});

const get = async (path: string): Promise<AnyBody> => (await nodes[0].get(path)).body;
const say = (what: string, body: object): Promise<HttpAnswer<AnyBody>> => nodes[1].post(`${NONCES}/${what}`, body);
const stateOf = async (txId: unknown): Promise<unknown> => (await get(`/api/v1/tx/${String(txId)}`))['state'];

/** Mines until it is so. */
async function mineUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  await until(what, async () => {
    await provider.send('evm_mine', []);
    return isSo();
  });
}

it('an outside sender works a signer together with transactions, over two nodes, and its nonces are told of', async () => {
  const reserved = await nodes[0].post<{ holds: AnyBody[] }>(NONCES, { requestId: 'relayer', count: 3, ttl: 600 });
  expect(reserved.status).toBe(202);
  const again = await nodes[1].post<{ holds: AnyBody[] }>(NONCES, { requestId: 'relayer', count: 3, ttl: 600 });
  expect([again.status, again.body.holds]).toEqual([200, reserved.body.holds]);
  const [first, second, third] = reserved.body.holds.map(({ holdId }) => holdId);
  expect(reserved.body.holds.map(({ nonce, state }) => [nonce, state])).toEqual([0, 1, 2].map((n) => [n, 'ALLOCATED']));
  const payload = { signer: SIGNER, requestId: 'own', payload: { to: TO, value: '1' } };
  const { txId } = (await nodes[1].post('/api/v1/tx', payload)).body;

  // The first is used without a word, the second by a word before it is sent, the third is given back.
  const wallet = devWallet(0).connect(provider);
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n, gasLimit: 21_000 };
  const sent = await wallet.sendTransaction({ to: TO, value: 2, nonce: 0, ...fees });
  const raw = await wallet.signTransaction({ to: TO, value: 3, nonce: 1, chainId: DEV_CHAIN, type: 2, ...fees });
  const txHash = keccak256(raw);
  expect((await say('1/consume', { holdId: second, txHash: sent.hash })).body['code']).toBe('other_transaction');
  expect((await say('1/consume', { holdId: second, txHash })).status).toBe(202);
  expect((await say('1/release', { holdId: third })).body['code']).toBe('other_nonce');
  const released = await say('2/release?waitFor=CANCELLED', { holdId: third });
  expect(released.body).toMatchObject({ status: 'DONE', tx: { state: 'CANCELLED', nonce: 2 } });
  expect((await say('2/release', { holdId: third })).status).toBe(200);
  await until('the word is carried out', async () => (await stateOf(second)) === 'IN_MEMPOOL');
  expect((await say('1/release', { holdId: second })).body).toMatchObject({ code: 'already_used', status: 409 });
  await provider.broadcastTransaction(raw);

  await mineUntil('all is final', async () =>
    (await Promise.all([first, second, txId].map(stateOf))).every((state) => state === 'CONFIRMED'),
  );
  expect(await get(`/api/v1/tx/${String(first)}`)).toMatchObject({ kind: 'hold', contractAddress: null });
  const slots = (await get(NONCES))['items'] as AnyBody[];
  expect(slots.map(({ nonce, use, status }) => [nonce, use, status])).toEqual([
    [3, 'payload', 'CONSUMED'],
    [2, 'fill', expect.any(String)],
    [1, 'hold', 'CONSUMED'],
    [0, 'hold', 'CONSUMED'],
  ]);
  expect(await provider.getTransactionCount(SIGNER)).toBe(4);

  const events = async () => (await get('/api/v1/events?after=0-0-0&limit=1000'))['items'] as AnyBody[];
  const told = (items: readonly AnyBody[], holdId: unknown): unknown[] =>
    items.filter(({ data }) => (data as AnyBody)['txId'] === holdId).map(({ type }) => type);
  // What was committed last is told when no transaction from before it is open, in any database of the server.
  await until('the last of both holds is told', async () => {
    const items = await events();
    return [first, second].every((holdId) => told(items, holdId).includes('hold.consumed'));
  });
  const items = await events();
  const rules = new EventBodyRules();
  for (const event of items) expect([event, rules.broken(event)]).toEqual([event, []]);
  expect(told(items, first)).toEqual(['hold.reserved', 'hold.used', 'hold.consumed']);
  expect(told(items, second)).toEqual(['hold.reserved', 'hold.used', 'hold.consumed']);
  expect(told(items, third)).toEqual(['hold.reserved', 'hold.released']);
});

it('a nonce that was consumed with a hash that never comes is closed by an operator, and what waits behind it is mined', async () => {
  const { holds } = (await nodes[0].post<{ holds: AnyBody[] }>(NONCES, { requestId: 'lost', ttl: 600 })).body;
  const [{ holdId, nonce } = {} as AnyBody] = holds;
  expect((await say(`${String(nonce)}/consume`, { holdId, txHash: keccak256('0x01') })).status).toBe(202);
  const payload = { signer: SIGNER, requestId: 'behind', payload: { to: TO, value: '1' } };
  const { txId } = (await nodes[1].post('/api/v1/tx', payload)).body;
  const { items } = (await get(`${NONCES}?status=HELD`)) as { items: AnyBody[] };
  expect(items.find((slot) => slot['nonce'] === nonce)).toMatchObject({ use: 'hold', txId: holdId });
  const close = { holdId, reason: 'lost', requestId: 'close' };
  const closed = await say(`${String(nonce)}/close`, close);
  expect(closed).toMatchObject({ status: 202, body: { kind: 'close', txId: holdId } });
  await mineUntil('both are final', async () => {
    const states = await Promise.all([holdId, txId].map(stateOf));
    return states.join() === 'CANCELLED,CONFIRMED';
  });
  expect(await say(`${String(nonce)}/close`, close)).toMatchObject({
    status: 200,
    body: { commandId: closed.body['commandId'] },
  });
  expect((await say(`${String(nonce)}/close`, { holdId, reason: 'once more' })).status).toBe(200);
  expect((await say('99/close', { holdId, reason: 'lost' })).body).toMatchObject({ code: 'other_nonce', status: 409 });
});

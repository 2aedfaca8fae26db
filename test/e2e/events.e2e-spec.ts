import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JsonRpcProvider } from 'ethers';
import type { EventDocument } from '../../src/modules/events/index.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { devWallet } from '../support/dev-wallets.js';
import { EventBodyRules } from '../support/event-body-rules.js';
import { RpcFront } from '../support/rpc-front.js';
import { Service } from '../support/service.js';
import { type Frame, StreamClient } from '../support/stream-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { Receiver } from '../unit/webhooks/sender-lab.js';

interface Body {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}
interface Held {
  readonly holdId: string;
  readonly nonce: number;
}
interface EventPage {
  readonly items: readonly Body[];
  readonly nextCursor: string;
}

const HAPPY = ['tx.accepted', 'tx.submitted', 'tx.receipt_updated', 'tx.confirmations', 'tx.confirmed'];
const TO = DEV_ACCOUNTS[9];
/** Whose key no node has. */
const EXTERNAL = `0x${'e1'.repeat(20)}`;

let anvil: RunningAnvil;
let database: TestDatabase;
let provider: JsonRpcProvider;
let api: Service;
let other: Service;
let front: RpcFront;
let created = 0;
/** Call data that the node refuses in words. */
const UNWANTED = '0xdeadbeef';

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  front = await RpcFront.listen(anvil.url, {
    refusesBytes: (raw) => (raw.includes(UNWANTED.slice(2)) ? 'oversized data' : null),
  });
  provider = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  [api, other] = [await start('api'), await start('all')];
});
afterAll(async () => {
  await Promise.all([api, other].map((node) => node.stop()));
  provider.destroy();
  await front.stop();
  await anvil.stop();
  await database.drop();
});

function start(role: string): Promise<Service> {
  const config = {
    confirmations: { required: 2 },
    node: { role },
    webhooks: { allow: ['127.0.0.1/32'] },
  };
  const signers = [
    { type: 'mnemonic', phrase: DEV_MNEMONIC, count: 10 },
    { type: 'external', addresses: [EXTERNAL] },
  ];
  return Service.start({ databaseUrl: database.url, rpcUrl: front.url, config, chain: { signers } });
}

const mine = (): Promise<unknown> => provider.send('evm_mine', []);
const follow = (node: Service, query = '', headers: Readonly<Record<string, string>> = {}): Promise<StreamClient> =>
  StreamClient.open(`${node.url}/api/v1/events${query}`, headers);
const typesOf = (frames: readonly Frame[], txId: unknown): string[] =>
  frames.filter(({ data }) => (data as unknown as Body).data['txId'] === txId).map(({ event }) => event);
const ids = (frames: readonly Frame[]): string[] => frames.map(({ id }) => id);

async function create(account: number, more: object = {}): Promise<string> {
  created += 1;
  const request = { signer: DEV_ACCOUNTS[account], requestId: `event-${created}`, payload: { to: TO, value: '1' } };
  const { status, body } = await other.post<TxView>('/api/v1/tx', { ...request, ...more });
  expect(status).toBe(202);
  return body.txId;
}

/** Mines until the condition holds. */
async function mineUntil(what: string, condition: () => boolean): Promise<void> {
  await until(what, async () => {
    await mine();
    return condition();
  });
}

async function reached(txId: string, state: string): Promise<void> {
  await until(`${txId} is ${state}`, async () => (await other.get<TxView>(`/api/v1/tx/${txId}`)).body.state === state);
}

/** The whole log, in pages. */
async function wholeLog(node: Service, limit = 7): Promise<Body[]> {
  const found: Body[] = [];
  for (let after = '0-0-0'; ;) {
    const { body } = await node.get<EventPage>(`/api/v1/events?after=${after}&limit=${limit}`);
    found.push(...body.items);
    if (body.nextCursor === after) return found;
    after = body.nextCursor;
  }
}

describe('events', () => {
  it('of transactions of one node arrive on the stream of another one, in order', async () => {
    const [all, confirmed] = [await follow(api), await follow(api, '?types=tx.confirmed')];
    const txIds = await Promise.all(Array.from({ length: 20 }, (_, n) => create(n % 2)));
    const done = (client: StreamClient): boolean =>
      client.frames.filter(({ event }) => event === 'tx.confirmed').length === txIds.length;
    await mineUntil('all are confirmed', () => done(all) && done(confirmed));
    for (const txId of txIds) expect(typesOf(all.frames, txId)).toEqual(HAPPY);
    expect(new Set(confirmed.frames.map(({ event }) => event))).toEqual(new Set(['tx.confirmed']));
    const log = await wholeLog(other);
    expect(ids(all.frames)).toEqual(log.map(({ id }) => id));
    expect(all.frames.map(({ data }) => data)).toEqual(log);
    for (const client of [all, confirmed]) client.close();
  });

  it('are neither lost nor repeated when the node of the stream is killed, and the client goes on at another one', async () => {
    const before = (await wholeLog(other)).at(-1)?.id ?? '';
    const first = await follow(api, `?after=${before}`);
    const txIds = await Promise.all(Array.from({ length: 30 }, (_, n) => create(n % 3)));
    await until('the stream is in the middle', async () => first.frames.length > 10);
    await api.kill();
    await until('the stream is broken', async () => first.ended);
    const second = await follow(other, '', { 'last-event-id': first.lastId ?? '' });
    const got = (): Frame[] => [...first.frames, ...second.frames];
    await mineUntil('all are confirmed', () => got().filter(({ event }) => event === 'tx.confirmed').length === 30);
    for (const txId of txIds) expect(typesOf(got(), txId)).toEqual(HAPPY);
    expect(ids(got())).toEqual((await wholeLog(other)).map(({ id }) => id).slice(-got().length));
    expect(new Set(ids(got())).size).toBe(150);
    second.close();
    api = await start('api');
  });

  it('end with the node, which exits with 0 although a client takes nothing', async () => {
    const client = await follow(api);
    const slow = await StreamClient.openUnread(`${api.url}/api/v1/events?after=0-0-0`);
    expect(await api.stop()).toBe(0);
    await until('the client knows', async () => client.ended);
    expect(client.response.complete).toBe(true);
    slow.close();
    api = await start('api');
  });
});

describe('the documented bodies', () => {
  let all: StreamClient;
  const of = (txId: string): string[] => typesOf(all.frames, txId);
  const has = (type: string): boolean => all.frames.some(({ event }) => event === type);
  const forks = (txId: string): unknown[] =>
    all.frames
      .map(({ data }) => data as unknown as Body)
      .filter(({ data }) => data['txId'] === txId && 'newFork' in data)
      .map(({ type, data }) => [type, data['newFork'], data['confirmations'] !== null]);

  beforeAll(async () => {
    all = await follow(api, '?after=0-0-0');
  });
  afterAll(() => all.close());

  it('tell a reorg so that a client that adds up confirmations is right, also one that has webhooks', async () => {
    const receiver = await new Receiver().start();
    const endpoint = await other.post<{ id: string }>('/api/v1/webhooks', { url: receiver.url(), callbackOnly: true });
    const txId = await create(3, { callback: endpoint.body.id });
    await reached(txId, 'IN_MEMPOOL');
    await mine();
    await reached(txId, 'MINED');
    await provider.send('anvil_reorg', [1, []]);
    await mineUntil('the reorg is over', () => of(txId).includes('tx.confirmed'));
    expect(forks(txId)).toEqual([
      ['tx.confirmations', false, true],
      ['tx.reorged', true, false],
      ['tx.confirmations', true, true],
      ['tx.confirmed', false, true],
    ]);
    const frames = all.frames.map(({ data }) => data as unknown as Body).filter(({ data }) => data['txId'] === txId);
    await until('the receiver knows', async () => receiver.received.length === frames.length);
    expect(receiver.received.map(({ body }) => JSON.parse(body) as Body)).toEqual(frames);
    await receiver.stop();
  });

  it('tell every other end', async () => {
    const signer = `/api/v1/signers/31337/${DEV_ACCOUNTS[4]}`;
    await other.post(`${signer}/pause`, { reason: 'test' });
    const cancelled = await create(4);
    await other.post(`/api/v1/tx/${cancelled}/cancel`, {});
    const expiresAt = new Date(Date.now() + 1_000);
    const dropped = await create(4, { expiresAt: expiresAt.toISOString() });
    await until('it has expired', async () => Date.now() > expiresAt.getTime());
    await other.post(`${signer}/resume`, {});
    await mineUntil('it is dropped', () => of(dropped).includes('tx.dropped'));
    const replaced = await create(5);
    await reached(replaced, 'IN_MEMPOOL');
    const { body } = await other.post<{ replacement: string }>(`/api/v1/tx/${replaced}/replace`, {
      requestId: 'replacement',
      payload: { to: TO, value: '2' },
    });
    await reached(body.replacement, 'IN_MEMPOOL');
    const failed = await create(6, { payload: { data: '0xfe', gasLimit: '100000' } });
    await reached(failed, 'IN_MEMPOOL');
    const refused = await create(6, { payload: { to: TO, data: UNWANTED } });
    await mineUntil('all have ended', () =>
      [of(cancelled), of(replaced), of(failed), of(refused)].every((types) =>
        /cancelled|replaced|failed/.test(types.at(-1) ?? ''),
      ),
    );
    expect(of(refused)).toEqual(expect.arrayContaining(['tx.refused']));
    const words = all.frames.find(({ event }) => event === 'tx.refused')?.data as unknown as Body;
    expect(words.data).toMatchObject({
      txId: refused,
      state: 'IN_MEMPOOL',
      reason: 'oversized data',
      becomes: 'FAILED',
    });
    expect([of(cancelled), of(dropped), of(replaced), of(failed)].map((types) => types.at(-1))).toEqual([
      'tx.cancelled',
      'tx.dropped',
      'tx.replaced',
      'tx.failed',
    ]);
    const end = all.frames.find(({ event }) => event === 'tx.replaced')?.data as unknown as Body;
    expect(end.data).toMatchObject({ txId: replaced, replacedBy: body.replacement, state: 'REPLACED' });
  });

  it('tell that money is missing, and that it came', async () => {
    await create(7, { payload: { to: TO, value: `2${'0'.repeat(22)}` } });
    await mineUntil('the balance is low', () => has('signer.balance_low'));
    await provider.send('anvil_setBalance', [DEV_ACCOUNTS[7], `0x${(10n ** 23n).toString(16)}`]);
    await mineUntil('the balance is restored', () => has('signer.balance_restored'));
  });

  it('tell that the chain is behind our books, and that it is not any more', async () => {
    const txId = await create(3);
    await reached(txId, 'IN_MEMPOOL');
    await mine();
    // It is final only with more blocks, so the nonce is compared when it is lower.
    await until('it is mined', async () => of(txId).includes('tx.receipt_updated'));
    const used = await provider.send('eth_getTransactionCount', [DEV_ACCOUNTS[3], 'latest']);
    await provider.send('anvil_setNonce', [DEV_ACCOUNTS[3], '0x0']);
    await mineUntil('the chain is behind', () => has('signer.chain_behind'));
    await provider.send('anvil_setNonce', [DEV_ACCOUNTS[3], used]);
    await mineUntil('the chain has caught up', () => has('signer.chain_caught_up'));
  });

  it('tell what becomes of the nonces of outside senders, also in a reorg', async () => {
    const signer = `/api/v1/signers/31337/${DEV_ACCOUNTS[8]}`;
    const reserve = async (body: object): Promise<Held[]> =>
      (await other.post<{ holds: Held[] }>(`${signer}/nonces`, body)).body.holds;
    const [used, released] = (await reserve({ requestId: 'held', count: 2 })) as [Held, Held];
    const fees = { type: 2, gasLimit: 21_000, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
    const raw = await devWallet(8).signTransaction({ to: TO, value: 1, nonce: used.nonce, chainId: 31337, ...fees });
    await provider.broadcastTransaction(raw);
    await reached(used.holdId, 'IN_MEMPOOL');
    await mine();
    await reached(used.holdId, 'MINED');
    await provider.send('anvil_reorg', [1, []]);
    await mineUntil('the reorg is told', () => has('hold.reorged'));
    // Lockstep sends it no second time. The pool may have it again.
    await provider.broadcastTransaction(raw).catch(() => null);
    await mineUntil('it is consumed', () => has('hold.consumed'));
    await other.post(`${signer}/nonces/${released.nonce}/release`, { holdId: released.holdId });
    await until('it is released', async () => has('hold.released'));
    const [closed] = (await reserve({ requestId: 'closed' })) as [Held];
    await other.post(`${signer}/nonces/${closed.nonce}/close`, { holdId: closed.holdId, reason: 'it lost its keys' });
    await mineUntil('a no-op used its nonce', () => of(closed.holdId).includes('hold.released'));
    await other.post(`${signer}/pause`, {});
    const [late] = (await reserve({ requestId: 'late', ttl: 10 })) as [Held];
    await until('its time is over', async () => has('hold.dropped'));
    expect([used, released, closed, late].map(({ holdId }) => of(holdId))).toEqual([
      ['hold.reserved', 'hold.used', 'hold.reorged', 'hold.consumed'],
      ['hold.reserved', 'hold.released'],
      ['hold.reserved', 'hold.closing', 'hold.released'],
      ['hold.dropped'],
    ]);
    const frame = all.frames.find(({ event }) => event === 'hold.consumed')?.data as unknown as Body;
    expect(frame.data).toMatchObject({ nonce: used.nonce, requestId: 'held', status: 'success' });
  });

  it('tell of a gap that nobody here can fill, and that it is closed', async () => {
    const signer = `/api/v1/signers/31337/${EXTERNAL}`;
    const refused = { code: 'external_signer', status: 422 };
    const payload = { signer: EXTERNAL, requestId: 'payload', payload: { to: TO, value: '1' } };
    expect((await api.post('/api/v1/tx', payload)).body).toMatchObject(refused);
    expect((await api.post('/api/v1/tx/simulate', payload)).body).toMatchObject(refused);
    const items = await api.post<{ items: object[] }>('/api/v1/tx/batch', { items: [payload] });
    expect(items.body.items).toMatchObject([{ problem: refused }]);
    const reserve = async (requestId: string, count: number): Promise<Held[]> =>
      (await api.post<{ holds: Held[] }>(`${signer}/nonces`, { requestId, count })).body.holds;
    const [first] = (await reserve('two', 2)) as [Held];
    const close = await api.post(`${signer}/nonces/0/close`, { holdId: first.holdId, reason: 'lost' });
    expect(close.body).toMatchObject(refused);
    await api.post(`${signer}/nonces/0/release`, { holdId: first.holdId });
    await until('the gap is told', async () => has('signer.nonce_gap'));
    const shown = await api.get<{ items: { address: string; custody: object; nonceGap: object | null }[] }>(
      '/api/v1/signers',
    );
    expect(shown.body.items.find(({ address }) => address === EXTERNAL)).toMatchObject({
      custody: { type: 'external' },
      nonceGap: { nonce: 0 },
    });
    expect((await api.get(`${signer}/nonces/0`)).body).toMatchObject({ slot: { use: 'gap', status: 'RELEASED' } });
    expect(await reserve('next', 1)).toMatchObject([{ nonce: 0 }]);
    await until('it is closed', async () => has('signer.nonce_gap_closed'));
  });

  it('are those of the OpenAPI document, for every type', async () => {
    const { body } = await api.get<{ openapi: string; components: EventDocument } & EventDocument>('/docs-json');
    const rules = new EventBodyRules({ ...body.components, webhooks: body.webhooks });
    expect([body.openapi, JSON.stringify(body).includes('"nullable":')]).toEqual(['3.1.0', false]);
    expect([...new Set(all.frames.map(({ event }) => event))].sort()).toEqual([...rules.types].sort());
    expect(all.frames.flatMap(({ data }) => rules.broken(data))).toEqual([]);
  });
});

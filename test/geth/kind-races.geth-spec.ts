import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Wallet } from 'ethers';
import type { AttemptView, TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS, DEV_CHAIN_ID } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { until } from '../support/until.js';

const [CANCELS, REPLACES, HURRIES, EXPIRES, MIXES, AUTHORIZES, WITHDRAWS] = DEV_ACCOUNTS;
const NOBODY = '0x00000000000000000000000000000000000000bb';
const CODE = '0x000000000000000000000000000000000000c0de';
/** The versioned hash of a blob of zeros. */
const EMPTY_BLOB = '0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014';

let geth: Geth;
let cluster: Cluster;
let requests = 0;

beforeAll(async () => {
  geth = await Geth.start({ held: true });
  cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

const blobs = (...texts: readonly string[]) => ({
  to: NOBODY,
  blobs: texts.map((text) => `0x00${Buffer.from(text).toString('hex')}`),
});

/** Of an account that nothing else uses. */
async function authorized(): Promise<object> {
  const { nonce, signature } = await Wallet.createRandom().authorize({
    address: CODE,
    chainId: DEV_CHAIN_ID,
    nonce: 0,
  });
  const { yParity, r, s } = signature;
  return { to: NOBODY, authorizationList: [{ address: CODE, nonce: Number(nonce), yParity, r, s }] };
}

const body = (payload: object) => ({ requestId: `request ${(requests += 1)}`, payload });

async function sent(signer: string, payload: object): Promise<string> {
  const { txId } = (await cluster.post('/api/v1/tx', { signer, ...body(payload) })).body as { txId: string };
  await until('it is in the pool', async () => (await get<TxView>(txId)).state === 'IN_MEMPOOL');
  return txId;
}

async function get<View>(txId: string, more = ''): Promise<View> {
  return (await cluster.node(0).service.get<View>(`/api/v1/tx/${txId}${more}`)).body;
}

async function attempts(txId: string): Promise<readonly AttemptView[]> {
  return (await get<{ items: AttemptView[] }>(txId, '/attempts')).items;
}

/** @returns the id of the replacement */
async function replaced(txId: string, payload: object): Promise<string> {
  const { status, body: answer } = await cluster.post(`/api/v1/tx/${txId}/replace`, body(payload));
  expect({ status, answer }).toMatchObject({ answer: { replacement: expect.any(String) } });
  return (answer as { replacement: string }).replacement;
}

/** Waits until geth has so many attempts of the tx; it lists no blob transactions, but knows their hashes. */
async function inPool(txId: string, count: number): Promise<readonly AttemptView[]> {
  await until('geth took it', async () => {
    const newest = (await attempts(txId))[count - 1];
    return newest !== undefined && (await geth.call('eth_getTransactionByHash', newest.txHash)) !== null;
  });
  const all = await attempts(txId);
  expect(all.map(({ lastError }) => lastError)).toEqual(all.map(() => null));
  return all;
}

async function ends(txId: string, state: string): Promise<TxView> {
  await until(`${txId} ends`, async () => !['IN_MEMPOOL', 'MINED'].includes((await get<TxView>(txId)).state));
  const tx = await get<TxView>(txId);
  expect(tx).toMatchObject({ state });
  return tx;
}

/** The one transaction that was mined for them. */
async function mined(...txIds: readonly string[]): Promise<Record<string, unknown>> {
  const all = (await Promise.all(txIds.map(attempts))).flat().filter(({ status }) => status === 'MINED');
  expect(all).toHaveLength(1);
  return (await geth.call('eth_getTransactionByHash', all[0]?.txHash)) as Record<string, unknown>;
}

it('blobs are cancelled, replaced, sped up and expire at twice each fee, and other kinds take turns as geth allows', async () => {
  const [cancelled, original] = [await sent(CANCELS, blobs('a')), await sent(REPLACES, blobs('b'))];
  const [hurried, expired] = [await sent(HURRIES, blobs('c', 'd')), await sent(EXPIRES, blobs('e'))];
  const plain = await sent(AUTHORIZES, { to: NOBODY, value: '1' });
  const delegation = await sent(WITHDRAWS, await authorized());
  const mixed = await sent(MIXES, { to: NOBODY, value: '1' });
  // It waits for its turn, so it gets other blobs in place.
  const edited = ((await cluster.post('/api/v1/tx', { signer: MIXES, ...body(blobs('x')) })).body as { txId: string })
    .txId;
  expect(await replaced(edited, blobs('y', 'z'))).toBe(edited);

  for (const [txId, payload] of [
    [mixed, blobs('f')],
    [original, { to: NOBODY }],
  ] as const) {
    const { status, body: answer } = await cluster.post(`/api/v1/tx/${txId}/replace`, body(payload));
    expect({ status, answer }).toMatchObject({ status: 409, answer: { code: 'other_kind' } });
  }
  expect((await cluster.post(`/api/v1/tx/${cancelled}/cancel`, {})).status).toBe(202);
  expect((await cluster.post(`/api/v1/tx/${hurried}/speed-up`, {})).status).toBe(202);
  const replacement = await replaced(original, blobs('g', 'h', 'i'));
  const late = `UPDATE managed_tx SET expires_at = clock_timestamp() WHERE tx_id = $1`;
  await cluster.database.query(late, [expired]);
  const authorization = await replaced(plain, await authorized());
  const withdrawal = await replaced(delegation, { to: NOBODY, value: '1' });

  for (const txId of [cancelled, hurried, expired]) {
    const [first, second] = await inPool(txId, 2);
    expect([first?.type, second?.type]).toEqual([3, 3]);
    for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'] as const)
      expect(BigInt(second?.[fee] ?? 0)).toBeGreaterThanOrEqual(2n * BigInt(first?.[fee] ?? 0));
  }
  for (const [txId, type] of [
    [replacement, 3],
    [authorization, 4],
    [withdrawal, 2],
  ] as const)
    expect(await inPool(txId, 1)).toMatchObject([{ type }]);
  await geth.release();

  await ends(cancelled, 'CANCELLED');
  await ends(expired, 'CANCELLED');
  for (const txId of [cancelled, expired])
    expect(await mined(txId)).toMatchObject({ type: '0x3', value: '0x0', blobVersionedHashes: [EMPTY_BLOB] });
  const { payload } = await ends(replacement, 'CONFIRMED');
  expect(payload.blobs).toHaveLength(3);
  expect(await mined(original, replacement)).toMatchObject({ type: '0x3', blobVersionedHashes: payload.blobs });
  await ends(hurried, 'CONFIRMED');
  expect(await mined(hurried)).toMatchObject({ hash: (await attempts(hurried))[1]?.txHash });
  for (const [loser, winner, type] of [
    [original, replacement, '0x3'],
    [plain, authorization, '0x4'],
    [delegation, withdrawal, '0x2'],
  ] as const) {
    await ends(winner, 'CONFIRMED');
    await ends(loser, 'REPLACED');
    expect(await mined(loser, winner)).toMatchObject({ type, nonce: '0x0' });
  }
  await ends(mixed, 'CONFIRMED');
  await until('blobs have their turn', async () => (await get<TxView>(edited)).state !== 'PENDING');
  const latest = await ends(edited, 'CONFIRMED');
  expect(latest.payload.blobs).toHaveLength(2);
  expect(await mined(edited)).toMatchObject({ type: '0x3', nonce: '0x1', blobVersionedHashes: latest.payload.blobs });
}, 120_000);

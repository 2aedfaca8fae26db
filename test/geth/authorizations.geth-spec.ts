import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AttemptView, TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { until } from '../support/until.js';

const [SENDER, AUTHORITY] = DEV_ACCOUNTS;
const NOBODY = '0x00000000000000000000000000000000000000bb';
const CODE = '0x000000000000000000000000000000000000c0de';

let geth: Geth;
let cluster: Cluster;

beforeAll(async () => {
  geth = await Geth.start({ held: true });
  cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

async function create(signer: string, payload: object): Promise<string> {
  const request = { signer, requestId: `of ${signer}`, payload: { to: NOBODY, ...payload } };
  return ((await cluster.post('/api/v1/tx', request)).body as { txId: string }).txId;
}

async function get<View>(txId: string, more = ''): Promise<View> {
  return (await cluster.node(0).service.get<View>(`/api/v1/tx/${txId}${more}`)).body;
}

/** Types of its attempts, the oldest first, when the pool has so many. */
async function inPool(txId: string, count: number): Promise<number[]> {
  let all: readonly AttemptView[] = [];
  await until(`the pool has ${count} of ${txId}`, async () => {
    all = (await get<{ items: AttemptView[] }>(txId, '/attempts')).items;
    return all.length === count && all.every(({ status }) => status === 'ACCEPTED');
  });
  return all.map(({ type }) => type);
}

it('a signer goes on after the payload that it signed for has expired', async () => {
  const signedBefore = (minutes: number): Promise<unknown> =>
    cluster.database.query(`UPDATE tx_authorization SET granted_at = granted_at - $1 * interval '1 minute'`, [minutes]);
  const delegating = await create(SENDER, { authorizationList: [{ address: CODE, signer: AUTHORITY }] });
  expect(await inPool(delegating, 1)).toEqual([4]);
  const waiting = await create(AUTHORITY, { value: '1' });
  await signedBefore(11);
  expect(await inPool(delegating, 2)).toEqual([4, 2]);
  expect(await get<TxView>(waiting)).toMatchObject({ state: 'PENDING' });
  await geth.release();
  for (const [txId, end] of [
    [delegating, 'CANCELLED'],
    [waiting, 'CONFIRMED'],
  ] as const) {
    await until(`it is ${end}`, async () => (await get<TxView>(txId)).state === end);
    expect(await get<TxView>(txId)).toMatchObject({ nonce: 0 });
  }
  expect(await geth.call('eth_getCode', AUTHORITY, 'latest')).toBe('0x');
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { readChain } from '../support/chain-reader.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { until } from '../support/until.js';

const [CANCELS, REPLACES, LATE_CANCEL, LATE_REPLACE, HURRIES] = DEV_ACCOUNTS;

let geth: Geth;
let cluster: Cluster;

beforeAll(async () => {
  geth = await Geth.start({ held: true });
  cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url, viaProxies: true });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

/** Its receiver gets nothing but this payment. */
interface Payment {
  readonly txId: string;
  readonly to: string;
}

let receivers = 0;
function receiver(): string {
  receivers += 1;
  return `0x${(0xfee_0000 + receivers).toString(16).padStart(40, '0')}`;
}

const payloadTo = (to: string) => ({ requestId: `to ${to}`, payload: { to, value: '1', gasLimit: '21000' } });

async function pay(signer: string): Promise<Payment> {
  const to = receiver();
  const { body } = await cluster.post('/api/v1/tx', { signer, ...payloadTo(to) });
  const { txId } = body as { txId: string };
  await until('it is in the pool', async () => (await stateOf(txId)).state === 'IN_MEMPOOL');
  return { txId, to };
}

async function cancel({ txId }: Payment): Promise<void> {
  expect((await cluster.post(`/api/v1/tx/${txId}/cancel`, {})).status).toBe(202);
}

async function replace({ txId }: Payment): Promise<Payment> {
  const to = receiver();
  const { status, body } = await cluster.post(`/api/v1/tx/${txId}/replace`, payloadTo(to));
  expect(status).toBe(202);
  return { txId: (body as { replacement: string }).replacement, to };
}

async function stateOf(txId: string): Promise<TxView> {
  return (await cluster.node(0).service.get<TxView>(`/api/v1/tx/${txId}`)).body;
}

async function ends({ txId, to }: Payment, state: string): Promise<TxView> {
  await until(`${txId} ends`, async () => !['IN_MEMPOOL', 'MINED'].includes((await stateOf(txId)).state));
  const tx = await stateOf(txId);
  expect(tx.state).toBe(state);
  expect(await geth.call('eth_getBalance', to, 'latest')).toBe(state === 'CONFIRMED' ? '0x1' : '0x0');
  return tx;
}

/** What the pool of geth has of a signer at a nonce. */
async function inPool(signer: string, nonce: number): Promise<{ readonly to: string; readonly hash: string }> {
  const content = (await geth.call('txpool_contentFrom', signer)) as {
    pending: Record<string, { to: string; hash: string }>;
  };
  return content.pending[nonce] ?? { to: 'nobody', hash: '' };
}

async function signedTwice(signer: string): Promise<boolean> {
  const sql = `SELECT count(*) > 1 AS twice FROM tx_attempt WHERE signer = $1`;
  return (await cluster.database.query<{ twice: boolean }>(sql, [signer.toLowerCase()]))[0]?.twice === true;
}

it('in each race for a nonce the one that geth mined wins, and the payload of the other is never executed', async () => {
  const [before, cancelled, behind] = [await pay(CANCELS), await pay(CANCELS), await pay(CANCELS)];
  const replaced = await pay(REPLACES);
  const [cancelledLate, replacedLate] = [await pay(LATE_CANCEL), await pay(LATE_REPLACE)];
  const hurried = await pay(HURRIES);
  const slowHash = (await inPool(HURRIES, 0)).hash;

  // These are in time, and geth has them in place of the originals.
  await cancel(cancelled);
  const replacement = await replace(replaced);
  expect((await cluster.post(`/api/v1/tx/${hurried.txId}/speed-up`, {})).status).toBe(202);
  await until('the no-op is in the pool', async () => (await inPool(CANCELS, 1)).to === CANCELS.toLowerCase());
  await until('the replacement is in the pool', async () => (await inPool(REPLACES, 0)).to === replacement.to);
  await until('the dearer one is in the pool', async () => (await inPool(HURRIES, 0)).hash !== slowHash);

  // These are signed, and none of them reaches geth before the originals are mined.
  const lost = { kind: 'refuse', code: -32000, message: 'service temporarily unavailable' } as const;
  for (const { links } of cluster.nodes) links.rpc.fail('eth_sendRawTransaction', lost);
  await cancel(cancelledLate);
  const replacementLate = await replace(replacedLate);
  for (const signer of [LATE_CANCEL, LATE_REPLACE]) await until('the competitor is signed', () => signedTwice(signer));
  await geth.release();
  for (const signer of [LATE_CANCEL, LATE_REPLACE])
    await until(
      'the original is mined',
      async () => (await geth.call('eth_getTransactionCount', signer, 'latest')) === '0x1',
    );
  for (const { links } of cluster.nodes) links.rpc.heal();

  await ends(before, 'CONFIRMED');
  await ends(cancelled, 'CANCELLED');
  await ends(behind, 'CONFIRMED');
  expect(await ends(replaced, 'REPLACED')).toMatchObject({ replacedBy: replacement.txId });
  expect(await ends(replacement, 'CONFIRMED')).toMatchObject({ replaces: replaced.txId });
  await ends(cancelledLate, 'CONFIRMED');
  await ends(replacedLate, 'CONFIRMED');
  expect(await ends(replacementLate, 'DROPPED')).toMatchObject({ replaces: replacedLate.txId });
  expect((await ends(hurried, 'CONFIRMED')).txHash).not.toBe(slowHash);

  const chain = await readChain(geth.url);
  for (const signer of [CANCELS, REPLACES, LATE_CANCEL, LATE_REPLACE, HURRIES]) {
    const mined = chain.filter(({ from }) => from.toLowerCase() === signer.toLowerCase()).map(({ nonce }) => nonce);
    expect(mined).toEqual(signer === CANCELS ? [0, 1, 2] : [0]);
  }
});

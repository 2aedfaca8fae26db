import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { HistoryEntry } from '../../src/modules/events/index.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';

const [ALICE, BOB] = DEV_ACCOUNTS;
const NOBODY = '0x00000000000000000000000000000000000000bb';
/** Init code of a contract whose code is one STOP, and init code that reverts. */
const STOP_CONTRACT = '0x60015ff3';
const REVERTS = '0x5f5ffd';

let geth: Geth;
let cluster: Cluster;

beforeAll(async () => {
  geth = await Geth.start();
  cluster = await Cluster.start({ nodes: 2, rpcUrl: geth.url, config: { confirmations: { required: 3 } } });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

/** Posted to one node and awaited at the other one. */
async function settled(signer: string, requestId: string, payload: Record<string, unknown>): Promise<TxView> {
  const [first, second] = [cluster.node(0).service, cluster.node(1).service];
  const { status, body } = await first.post('/api/v1/tx', { signer, requestId, payload });
  expect(status).toBe(202);
  const path = `/api/v1/tx/${String(body['txId'])}?waitFor=CONFIRMED&timeoutMs=30000`;
  return (await second.get<TxView>(path)).body;
}

async function balanceOf(address: string): Promise<bigint> {
  return BigInt(String(await geth.call('eth_getBalance', address, 'latest')));
}

it('a transfer goes from PENDING to CONFIRMED, and moves its value and what the receipt says of gas', async () => {
  const before = await balanceOf(ALICE);
  const tx = await settled(ALICE, 'transfer', { to: NOBODY, value: '1000000007' });
  expect(tx).toMatchObject({ state: 'CONFIRMED', subState: null, nonce: 0, receipt: { status: 'success' } });
  const receipt = (await geth.call('eth_getTransactionReceipt', tx.txHash)) as Record<string, string>;
  expect(tx.receipt).toMatchObject({
    blockNumber: Number(receipt['blockNumber']),
    blockHash: receipt['blockHash'],
    gasUsed: BigInt(receipt['gasUsed'] ?? 0).toString(),
    effectiveGasPrice: BigInt(receipt['effectiveGasPrice'] ?? 0).toString(),
  });
  const head = Number(await geth.call('eth_blockNumber'));
  expect(head - (tx.receipt?.blockNumber ?? head)).toBeGreaterThanOrEqual(3);
  const gas = BigInt(receipt['gasUsed'] ?? 0) * BigInt(receipt['effectiveGasPrice'] ?? 0);
  expect(await balanceOf(NOBODY)).toBe(1_000_000_007n);
  expect(await balanceOf(ALICE)).toBe(before - 1_000_000_007n - gas);
  const { body } = await cluster.node(1).service.get<{ items: HistoryEntry[] }>(`/api/v1/tx/${tx.txId}/history`);
  expect(body.items.map(({ reason }) => reason).filter((reason) => reason !== 'confirmations')).toEqual([
    'queued',
    'nonce_reserved',
    'signed',
    'sent',
    'mined',
    'confirmed',
  ]);
});

it('a contract is created where the receipt says', async () => {
  const tx = await settled(BOB, 'creation', { data: STOP_CONTRACT });
  expect(tx).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
  expect(await geth.call('eth_getCode', tx.receipt?.contractAddress, 'latest')).toBe('0x00');
});

it('what reverts in a block is FAILED when it is deep enough, and what would revert is never sent', async () => {
  const mined = await settled(BOB, 'reverts', { data: REVERTS, gasLimit: '100000' });
  expect(mined).toMatchObject({
    state: 'FAILED',
    receipt: { status: 'reverted' },
    failureReason: 'execution reverted',
  });
  const refused = await settled(BOB, 'would revert', { data: REVERTS });
  expect(refused).toMatchObject({ state: 'FAILED', nonce: null, receipt: null });
  const next = await settled(BOB, 'next', { to: NOBODY, value: '1' });
  expect(next).toMatchObject({ state: 'CONFIRMED', nonce: 2 });
});

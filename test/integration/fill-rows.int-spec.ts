import { describe, expect, it } from '@jest/globals';
import { NewFills } from '../../src/modules/transactions/application/writing/new-fills.js';
import { PgManagedTxRepository } from '../../src/modules/transactions/infrastructure/pg-managed-tx.repository.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const txs = new PgManagedTxRepository(stored.node.database, new Named('first'));
const OURS = aSigner(1);
let ids = 0;
const fills = new NewFills({ next: () => txIdOf(++ids) });

const putAttempt = (n: number, overrides: Parameters<typeof stored.put>[1] = {}): Promise<void> =>
  stored.put('tx_attempt', {
    chain_id: DEV_CHAIN,
    tx_hash: aHash(n),
    signer: OURS.address,
    nonce: 7,
    kind: 'fill',
    raw: '\\x02',
    gas_limit: 21_000,
    max_fee_per_gas: 2,
    max_priority_fee_per_gas: 1,
    status: 'UNKNOWN',
    fencing_token: 1,
    ...overrides,
  });

async function insert(...nonces: readonly bigint[]): Promise<string[]> {
  const made = nonces.map((nonce) => fills.at({ signer: OURS, nonce }, 30_000n));
  await stored.fenced([OURS], (fence) => txs.insertFills(fence, made));
  return made.map(({ tx }) => tx.id);
}

describe('a fill that is inserted', () => {
  it('is an ALLOCATED no-op to its own account, and can be read and saved like every tx', async () => {
    const [txId = ''] = await insert(7n);
    const [row] = await stored.read(`SELECT * FROM managed_tx WHERE tx_id = '${txId}'`);
    expect(row).toMatchObject({
      kind: 'fill',
      state: 'ALLOCATED',
      request_id: `fill-${txId}`,
      signer: OURS.address,
      to_address: OURS.address,
      value: '0',
      nonce: '7',
      gas_limit: '30000',
      fencing_token: '1',
      next_resubmit_at: null,
    });
    const [found] = await txs.allocated([OURS]);
    expect(found?.request).toMatchObject({ speed: 'fast', payload: { to: OURS.address, value: 0n, data: '0x' } });
    const [tx] = await txs.byIds([txId]);
    tx?.postponed('NODE_REFUSED', 1_000, 'busy');
    await stored.fenced([OURS], (fence) => txs.save(fence, tx ? [tx] : []));
    expect((await txs.byIds([txId]))[0]?.progress).toMatchObject({ kind: 'fill', subState: 'NODE_REFUSED', nonce: 7n });
  });

  it('has the attempts that the version before made for its slot, and no others', async () => {
    await putAttempt(1);
    await putAttempt(2, { nonce: 8 });
    await putAttempt(3, { chain_id: 7 });
    await putAttempt(4, { tx_id: txIdOf(99), kind: 'payload' });
    await putAttempt(5, { signer: aSigner(2).address });
    const [txId] = await insert(7n);
    const rows = await stored.read<{ tx_hash: string }>(`SELECT tx_hash FROM tx_attempt WHERE tx_id = '${txId}'`);
    expect(rows.map(({ tx_hash }) => tx_hash)).toEqual([aHash(1)]);
  });

  it('is one of several, each at its own nonce', async () => {
    const inserted = await insert(9n, 8n);
    const rows = await stored.read<{ tx_id: string; nonce: string }>('SELECT tx_id, nonce FROM managed_tx');
    expect(new Map(rows.map(({ tx_id, nonce }) => [tx_id, nonce]))).toEqual(
      new Map([
        [inserted[0], '9'],
        [inserted[1], '8'],
      ]),
    );
  });
});

describe('a slot that is being closed', () => {
  it('says so in the row, and what the tx becomes if the no-op is mined', async () => {
    await stored.putTx(1, { state: 'IN_MEMPOOL' });
    const [tx] = await txs.byIds([txIdOf(1)]);
    tx?.close('FAILED', 'oversized data');
    await stored.fenced([OURS], (fence) => txs.save(fence, tx ? [tx] : []));
    const [found] = await txs.byIds([txIdOf(1)]);
    expect(found?.progress).toMatchObject({
      closing: { as: 'FAILED', reason: 'oversized data', won: false },
      failureReason: 'oversized data',
    });
    expect(found?.isClosing).toBe(true);
  });

  it.each([
    ['IN_MEMPOOL', false],
    ['MINED', true],
  ])('is known from the reason alone where the version before wrote it, %s', async (state, won) => {
    await stored.putTx(1, { state, failure_reason: 'refused for good' });
    const [found] = await txs.byIds([txIdOf(1)]);
    expect(found?.progress.closing).toEqual({ as: 'FAILED', reason: 'refused for good', won });
  });

  it('is none where a tx failed before it was mined', async () => {
    await stored.putTx(1, { state: 'FAILED', receipt: null, block_number: null, block_hash: null });
    expect((await txs.byIds([txIdOf(1)]))[0]?.progress.closing).toBeNull();
  });
});

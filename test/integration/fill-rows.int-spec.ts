import { describe, expect, it } from '@jest/globals';
import { NewFills } from '../../src/modules/ledger/application/writing/new-fills.js';
import { aSigner } from '../support/builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { PgManagedTxRepository } from '../../src/modules/ledger/infrastructure/pg-managed-tx.repository.js';
import { PgTxWriter } from '../../src/modules/ledger/infrastructure/pg-tx-writer.js';
import { NO_POLICIES } from '../support/fakes/no-policies.js';
import { PgTxsInFlight } from '../../src/modules/ledger/infrastructure/pg-txs-in-flight.js';

const stored = await storedRows();
const txs = new PgManagedTxRepository(stored.node.database);
const writer = new PgTxWriter(NO_POLICIES);
const inFlight = new PgTxsInFlight(stored.node.database);
const OURS = aSigner(1);
let ids = 0;
const fills = new NewFills({ next: () => txIdOf(++ids) });

async function insert(...nonces: readonly bigint[]): Promise<string[]> {
  const made = nonces.map((nonce) => fills.at({ signer: OURS, nonce }, 30_000n));
  await stored.fenced([OURS], (fence) => writer.insertFills(fence, made));
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
    const [found] = await inFlight.allocated([OURS]);
    expect(found?.request).toMatchObject({ speed: 'fast', payload: { to: OURS.address, value: 0n, data: '0x' } });
    const [tx] = await txs.byIds([txId]);
    tx?.postponed('NODE_REFUSED', 1_000, 'busy');
    await stored.fenced([OURS], (fence) => writer.save(fence, tx ? [tx] : []));
    expect((await txs.byIds([txId]))[0]?.progress).toMatchObject({ kind: 'fill', subState: 'NODE_REFUSED', nonce: 7n });
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
    await stored.fenced([OURS], (fence) => writer.save(fence, tx ? [tx] : []));
    const [found] = await txs.byIds([txIdOf(1)]);
    expect(found?.progress).toMatchObject({
      closing: { as: 'FAILED', reason: 'oversized data', won: false },
      failureReason: 'oversized data',
    });
    expect(found?.isClosing).toBe(true);
  });

  it('is none where a tx failed before it was mined', async () => {
    await stored.putTx(1, { state: 'FAILED', receipt: null, block_number: null, block_hash: null });
    expect((await txs.byIds([txIdOf(1)]))[0]?.progress.closing).toBeNull();
  });
});

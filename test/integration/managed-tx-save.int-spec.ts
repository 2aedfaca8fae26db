import { describe, expect, it } from '@jest/globals';
import type { ManagedTx } from '../../src/modules/ledger/index.js';
import { aHash, aReceipt, aSigner } from '../support/builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { PgManagedTxRepository } from '../../src/modules/ledger/infrastructure/pg-managed-tx.repository.js';
import { NO_POLICIES } from '../support/fakes/no-policies.js';
import { PgTxWriter } from '../../src/modules/ledger/infrastructure/pg-tx-writer.js';

const stored = await storedRows();
const txs = new PgManagedTxRepository(stored.node.database);
const writer = new PgTxWriter(NO_POLICIES);
const OURS = aSigner(1);

async function change(n: number, what: (tx: ManagedTx) => void): Promise<void> {
  const [tx] = await txs.byIds([txIdOf(n)]);
  if (!tx) throw new Error(`tx ${n} was not put`);
  what(tx);
  await stored.fenced([OURS], (fence) => writer.save(fence, [tx]));
}

async function rowOf(n: number): Promise<Record<string, unknown>> {
  const [row] = await stored.read<Record<string, unknown>>(`
    SELECT *, (1000 * extract(epoch FROM next_resubmit_at - clock_timestamp()))::float8 AS resubmit_in_ms,
           (1000 * extract(epoch FROM next_receipt_check_at - clock_timestamp()))::float8 AS receipt_in_ms
      FROM managed_tx WHERE tx_id = '${txIdOf(n)}'`);
  return row ?? {};
}

const TIMERS = { resubmit: { inMs: 600_000 }, receiptCheck: { inMs: 60_000 } } as const;
const REVERTED = JSON.stringify({
  ...aReceipt({ txHash: aHash(1), blockNumber: 1, blockHash: aHash(1), status: 'reverted' }),
  gasUsed: '1',
  effectiveGasPrice: '1',
});
const SOME_TIME = { next_resubmit_at: `'2030-01-01Z'`, next_receipt_check_at: `'2031-01-01Z'` };

describe('a tx that is saved', () => {
  it('has the timers that were set, and the time when it was sent', async () => {
    await stored.putTx(1, { state: 'ALLOCATED' });
    await change(1, (tx) => tx.sent(aHash(1), null, TIMERS, null));
    const row = await rowOf(1);
    expect(row).toMatchObject({ state: 'IN_MEMPOOL', tx_hash: aHash(1), last_submit_at: expect.any(Date) });
    expect(Math.round(Number(row['resubmit_in_ms']) / 10_000)).toBe(60);
    expect(Math.round(Number(row['receipt_in_ms']) / 10_000)).toBe(6);
  });

  it('keeps the timers that nobody spoke of, and the time when it was sent', async () => {
    const sentAt = new Date('2026-01-01T00:00:00Z');
    await stored.putTx(1, { state: 'IN_MEMPOOL', ...SOME_TIME, last_submit_at: `'${sentAt.toISOString()}'` });
    await change(1, (tx) => tx.receiptMissing(60_000));
    expect((await rowOf(1))['next_resubmit_at']).toEqual(new Date('2030-01-01Z'));
    expect((await rowOf(1))['last_submit_at']).toEqual(sentAt);
    await stored.putTx(2, { state: 'ALLOCATED', ...SOME_TIME });
    await change(2, (tx) => tx.postponed('INSUFFICIENT_FUNDS', 60_000, 'no money'));
    expect((await rowOf(2))['next_receipt_check_at']).toEqual(new Date('2031-01-01Z'));
  });

  it('has its block, and is CONFIRMED at a time that goes when a reorg opens it again', async () => {
    await stored.putTx(1, { state: 'IN_MEMPOOL', ...SOME_TIME });
    await change(1, (tx) => tx.mined(aReceipt({ txHash: aHash(1), blockNumber: 12, blockHash: aHash(12) })));
    expect(await rowOf(1)).toMatchObject({ block_number: '12', block_hash: aHash(12), confirmed_at: null });
    await change(1, (tx) => tx.settled('execution reverted', null));
    expect(await rowOf(1)).toMatchObject({ state: 'CONFIRMED', confirmed_at: expect.any(Date) });
    await change(1, (tx) => tx.reorged());
    expect(await rowOf(1)).toMatchObject({ state: 'IN_MEMPOOL', block_hash: null, receipt: null, confirmed_at: null });
  });

  it('FAILED by a revert says why, and the last error is another thing', async () => {
    await stored.putTx(1, { state: 'MINED', last_error: 'a node was busy', receipt: REVERTED });
    await change(1, (tx) => tx.settled('execution reverted', null));
    expect(await rowOf(1)).toMatchObject({ state: 'FAILED', failure_reason: 'execution reverted', confirmed_at: null });
    await stored.putTx(2, { state: 'ALLOCATED' });
    await change(2, (tx) => tx.postponed('INSUFFICIENT_FUNDS', 60_000, 'no money'));
    expect(await rowOf(2)).toMatchObject({ sub_state: 'INSUFFICIENT_FUNDS', tries: 1, last_error: 'no money' });
  });

  it('says under which lease, and counts its versions', async () => {
    await stored.putLease({ fencing_token: 41, expires_at: `now() - interval '1 hour'` });
    await stored.putTx(1, { state: 'IN_MEMPOOL', version: 5 });
    await change(1, (tx) => tx.receiptMissing(1));
    expect(await rowOf(1)).toMatchObject({ version: 6, fencing_token: '42' });
  });
});

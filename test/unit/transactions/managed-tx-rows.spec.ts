import { describe, expect, it } from '@jest/globals';
import type { Closing } from '../../../src/modules/transactions/domain/managed-tx.js';
import {
  type ProgressRow,
  toManagedTx,
  toStoredReceipt,
} from '../../../src/modules/transactions/infrastructure/managed-tx.rows.js';
import { aHash, aReceipt, aSigner } from '../../support/builders.js';

const { chainId, address } = aSigner();
const ROW: ProgressRow = {
  tx_id: 'tx-1',
  chain_id: String(chainId),
  signer: address,
  state: 'IN_MEMPOOL',
  sub_state: 'CANCELLING',
  nonce: '9007199254740993',
  gas_limit: '21000',
  tx_hash: aHash(1),
  receipt: null,
  failure_reason: null,
  kind: 'payload',
  closing: null,
  replaces: null,
  replaced_by: null,
  tries: 2,
  last_error: 'no',
  version: 4,
};
const MINED = { state: 'MINED', receipt: toStoredReceipt(aReceipt()) } as const;
const REVERTED = toStoredReceipt(aReceipt({ status: 'reverted' }));
const closingOf = (row: Partial<ProgressRow>) => toManagedTx({ ...ROW, ...row }).progress.closing;

describe('a tx that is read from its row', () => {
  it('has what was written', () => {
    const closing: Closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: true };
    const failure_reason = closing.reason;
    expect(toManagedTx({ ...ROW, ...MINED, kind: 'fill', failure_reason, closing }).progress).toEqual({
      txId: 'tx-1',
      kind: 'fill',
      signer: aSigner(),
      state: 'MINED',
      subState: 'CANCELLING',
      nonce: 9_007_199_254_740_993n,
      gasLimit: 21_000n,
      txHash: aHash(1),
      receipt: aReceipt(),
      failureReason: failure_reason,
      closing,
      replaces: null,
      replacedBy: null,
      tries: 2,
      lastError: 'no',
      version: 4,
    });
  });

  it('has nothing that it did not have yet', () => {
    const row = { ...ROW, state: 'PENDING', nonce: null, gas_limit: null, tx_hash: null } as const;
    const progress = { nonce: null, gasLimit: null, txHash: null, receipt: null, closing: null };
    expect(toManagedTx(row).progress).toMatchObject(progress);
  });
});

describe('a row of the version before, which wrote of a slot that is being closed only the reason', () => {
  const reason = 'refused';
  const failure_reason = reason;

  it.each<[string, Partial<ProgressRow>, boolean]>([
    ['is being closed', { failure_reason }, false],
    ['was consumed by its no-op', { ...MINED, failure_reason }, true],
    ['was consumed by its no-op for good', { ...MINED, state: 'FAILED', failure_reason }, true],
  ])('says that the slot %s', (_what, row, won) => {
    expect(closingOf(row)).toEqual({ as: 'FAILED', reason, won });
  });

  it.each<[string, Partial<ProgressRow>]>([
    ['is in the mempool', {}],
    ['was refused before it was sent', { state: 'FAILED', failure_reason }],
    ['reverted', { state: 'FAILED', receipt: REVERTED, failure_reason }],
  ])('says nothing of that where a tx %s', (_what, row) => {
    expect(closingOf(row)).toBeNull();
  });

  it('does not outweigh what the row says itself', () => {
    const closing: Closing = { as: 'CANCELLED', reason: 'cancelled', won: false };
    expect(closingOf({ failure_reason, closing })).toEqual(closing);
  });
});

describe('a row of this version that the version before changed, which leaves `closing` as it was', () => {
  const reason = 'refused';
  const before: Closing = { as: 'FAILED', reason, won: false };

  it('fails when the version before saw the no-op mined', () => {
    const tx = toManagedTx({ ...ROW, ...MINED, failure_reason: reason, closing: before });
    tx.settled('reverted', null);
    expect([tx.state, tx.progress.failureReason]).toEqual(['FAILED', reason]);
  });

  it('is confirmed when the version before saw the payload mined, after a no-op that a reorg took back', () => {
    const tx = toManagedTx({ ...ROW, ...MINED, failure_reason: null, closing: { ...before, won: true } });
    tx.settled('reverted', null);
    expect(tx.state).toBe('CONFIRMED');
  });

  it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL'] as const)('is %s, and not being closed, without a reason', (state) => {
    expect(closingOf({ state, failure_reason: null, closing: before })).toBeNull();
  });

  it('has no winner after a reorg', () => {
    expect(closingOf({ failure_reason: reason, closing: { ...before, won: true } })).toEqual(before);
  });
});

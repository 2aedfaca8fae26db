import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DomainError } from '../../../src/kernel/errors.js';
import { ManagedTx, TX_KINDS } from '../../../src/modules/ledger/domain/managed-tx.js';
import { canTransition, type TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';

const TIMERS = { resubmit: { inMs: 60_000 }, receiptCheck: { inMs: 60_000 } } as const;

/** Everything the outside can do to a managed tx. */
const CALLS: Record<string, (tx: ManagedTx) => void> = {
  allocated: (tx) => tx.allocated(3n, 21_000n),
  postponed: (tx) => tx.postponed('INSUFFICIENT_FUNDS', 1_000, 'no money'),
  signed: (tx) => tx.signed(aHash(1), { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }),
  sent: (tx) => tx.sent(aHash(1), null, TIMERS, null),
  resubmitted: (tx) => tx.resubmitted(aHash(1), 'STALE', TIMERS, null),
  receiptMissing: (tx) => tx.receiptMissing(1_000),
  minedWithSuccess: (tx) => tx.mined(aReceipt()),
  minedWithRevert: (tx) => tx.mined(aReceipt({ status: 'reverted' })),
  settled: (tx) => tx.settled('execution reverted', null),
  reorged: (tx) => tx.reorged(),
  failed: (tx) => tx.failed('refused'),
  expired: (tx) => tx.expired(),
  passedOn: (tx) => tx.passedOn('lost'),
  closedForAnotherNonce: (tx) => tx.close('PENDING', 'refused'),
  withdrawn: (tx) => tx.withdrawn('refused'),
  repriced: (tx) =>
    tx.repriced({ txHash: aHash(2), fees: { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n }, gasLimit: 21_000n }),
  closedToFail: (tx) => tx.close('FAILED', 'refused'),
  closedToCancel: (tx) => tx.close('CANCELLED', 'cancelled'),
  competitorSigned: (tx) => tx.competitorSigned(aHash(3)),
  noOpMined: (tx) => tx.mined(aReceipt(), 'no-op'),
  foreignTxUsedNonce: (tx) => tx.foreignTxUsedNonce(aHash(4)),
};
/** Where a life begins. */
const BEGINNINGS = {
  payload: () => aManagedTx().build(),
  hold: () => aManagedTx({ kind: 'hold' }).build(),
  fill: () => ManagedTx.fill('fill', aSigner(), 3n, 21_000n),
};

const anyCall = fc.constantFrom(...Object.keys(CALLS));

describe('a managed tx', () => {
  it('goes the whole way from PENDING to CONFIRMED, and each step leaves one event', () => {
    const tx = aManagedTx().allocated(7n).signed().sent().mined().build();
    tx.settled('execution reverted', null);
    expect(tx.pendingEvents().map(({ reason, from, to }) => [reason, from, to])).toEqual([
      ['nonce_reserved', 'PENDING', 'ALLOCATED'],
      ['signed', 'ALLOCATED', 'ALLOCATED'],
      ['sent', 'ALLOCATED', 'IN_MEMPOOL'],
      ['mined', 'IN_MEMPOOL', 'MINED'],
      ['confirmed', 'MINED', 'CONFIRMED'],
    ]);
  });

  it('ends FAILED with the reason when its revert is deep enough', () => {
    const tx = aManagedTx().allocated().sent().mined({ status: 'reverted' }).build();
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted' });
  });

  it('goes back to the mempool without its receipt when its block is gone, and is sent again at once', () => {
    const tx = aManagedTx().allocated().sent().mined().build();
    tx.reorged();
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null, nonce: 0n });
    expect(tx.timers).toEqual({ resubmit: { inMs: 0 }, receiptCheck: { inMs: 0 } });
  });

  it('can be mined although nobody saw it sent', () => {
    expect(aManagedTx().allocated().signed().mined().build().state).toBe('MINED');
  });

  it('is re-opened by a deep reorg when a block decided its end, and never otherwise', () => {
    const confirmed = aManagedTx().allocated().sent().mined().build();
    confirmed.settled('', null);
    confirmed.reorged();
    expect(confirmed.state).toBe('IN_MEMPOOL');

    const refused = aManagedTx().build();
    refused.failed('execution reverted');
    expect(() => refused.reorged()).toThrow('a transaction that is FAILED cannot become IN_MEMPOOL');
  });

  it('never reaches an illegal state, whatever is called in whatever order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TX_KINDS), fc.array(anyCall, { maxLength: 40 }), (kind, calls) => {
        const tx = BEGINNINGS[kind]();
        let events = tx.pendingEvents().length;
        for (const call of calls) {
          const before = { ...tx.progress };
          const decidedByBlock = before.receipt !== null;
          const refused = !attempt(() => CALLS[call]?.(tx));
          if (refused) expect(tx.progress).toEqual(before);
          const { state, nonce, receipt, txHash, closing } = tx.progress;
          if (state !== before.state) expect(canTransition(before.state, state, decidedByBlock)).toBe(true);
          expectConsistent(state, { nonce, receipt: receipt !== null, txHash });
          // Nothing is cancelled that was not to be, and no no-op wins without a block.
          if (state === 'CANCELLED') expect(closing?.as).toBe('CANCELLED');
          if (closing?.won === true) expect(receipt).not.toBeNull();
          // I10: no change of state without its event.
          if (state !== before.state) expect(tx.pendingEvents().length).toBeGreaterThan(events);
          events = tx.pendingEvents().length;
          // A payload that has a nonce never moves to another one by itself (I8).
          if (before.nonce !== null && state !== 'PENDING') expect(nonce).toBe(before.nonce);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The same rules as the CHECK constraints of the table. */
function expectConsistent(
  state: TxState,
  { nonce, receipt, txHash }: { nonce: bigint | null; receipt: boolean; txHash: string | null },
): void {
  if (state === 'PENDING') expect(nonce).toBeNull();
  if (['ALLOCATED', 'IN_MEMPOOL', 'MINED', 'CONFIRMED'].includes(state)) expect(nonce).not.toBeNull();
  if (state === 'MINED' || state === 'CONFIRMED') expect([receipt, txHash !== null]).toEqual([true, true]);
  if (['PENDING', 'ALLOCATED', 'IN_MEMPOOL'].includes(state)) expect(receipt).toBe(false);
}

function attempt(call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return false;
  }
}

import { describe, expect, it } from '@jest/globals';
import type { Closing, ManagedTx, SubmitTimers } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, aReceipt } from '../../support/builders.js';

const IN_A_MINUTE: SubmitTimers = { resubmit: { inMs: 60_000 }, receiptCheck: { inMs: 60_000 } };
const KEEP: SubmitTimers = { resubmit: 'keep', receiptCheck: 'keep' };
const CLEAR: SubmitTimers = { resubmit: 'clear', receiptCheck: 'clear' };
const AT_ONCE: SubmitTimers = { resubmit: { inMs: 0 }, receiptCheck: { inMs: 0 } };

const CLOSING: Closing = { as: 'FAILED', reason: 'no', won: false };

/** In the mempool, saved since. */
function inMempool(overrides: Parameters<typeof aManagedTx>[0] = {}): ManagedTx {
  return aManagedTx({ state: 'IN_MEMPOOL', nonce: 0n, txHash: aHash(1), ...overrides }).build();
}

function mined(overrides: Parameters<typeof aManagedTx>[0] = {}): ManagedTx {
  return inMempool({ state: 'MINED', receipt: aReceipt(), ...overrides });
}

describe('the timers of a tx', () => {
  it.each<[string, ManagedTx, (tx: ManagedTx) => void, SubmitTimers]>([
    ['nothing', inMempool(), () => undefined, KEEP],
    ['a nonce', aManagedTx().build(), (tx) => tx.allocated(0n, 1n), { ...KEEP, resubmit: 'clear' }],
    ['a send', aManagedTx().allocated().build(), (tx) => tx.sent(aHash(1), null, IN_A_MINUTE, null), IN_A_MINUTE],
    ['another send', inMempool(), (tx) => tx.resubmitted(aHash(1), null, IN_A_MINUTE, null), IN_A_MINUTE],
    ['a missing receipt', inMempool(), (tx) => tx.receiptMissing(7), { ...KEEP, receiptCheck: { inMs: 7 } }],
    ['its block', inMempool(), (tx) => tx.mined(aReceipt()), CLEAR],
    ['a reorg', mined(), (tx) => tx.reorged(), AT_ONCE],
    ['a refusal in doubt', inMempool(), (tx) => tx.close('FAILED', 'no'), AT_ONCE],
    ['a foreign nonce', inMempool(), (tx) => tx.foreignTxUsedNonce(null), CLEAR],
    ['a foreign nonce while it is closed', inMempool({ closing: CLOSING }), (tx) => tx.foreignTxUsedNonce(null), CLEAR],
    ['a pause', aManagedTx().build(), (tx) => tx.postponed(null, 9, 'no'), { ...KEEP, resubmit: { inMs: 9 } }],
    [
      'a nonce that a no-op used',
      mined({ closing: { as: 'PENDING', reason: 'no', won: true } }),
      (tx) => tx.settled('', null),
      { resubmit: { inMs: 2_000 }, receiptCheck: 'clear' },
    ],
    ['its end', aManagedTx().build(), (tx) => tx.failed('no'), CLEAR],
    ['its expiry', aManagedTx().build(), (tx) => tx.expired(), CLEAR],
  ])('after %s', (_what, tx, happens, timers) => {
    tx.saved();
    happens(tx);
    expect(tx.timers).toEqual(timers);
    tx.saved();
    expect(tx.timers).toEqual(KEEP);
  });
});

describe('tries in a row', () => {
  it('count what came to the same, and begin anew with something else', () => {
    const tx = aManagedTx().build();
    const after = [null, 'NODE_REFUSED', 'NODE_REFUSED', 'INSUFFICIENT_FUNDS'] as const;
    const tries = after.map((subState) => {
      tx.postponed(subState, 1, 'no');
      return tx.progress.tries;
    });
    expect(tries).toEqual([1, 1, 2, 1]);
    expect([tx.equalTries('INSUFFICIENT_FUNDS'), tx.equalTries('NODE_REFUSED'), tx.equalTries(null)]).toEqual([
      1, 0, 0,
    ]);
  });

  it('end with a send that goes well', () => {
    const tx = inMempool({ subState: 'STALE', tries: 4 });
    tx.resubmitted(aHash(1), 'STALE', IN_A_MINUTE, null);
    expect(tx.progress).toMatchObject({ tries: 0, lastError: null });
  });

  it('end with a nonce', () => {
    const tx = aManagedTx({ subState: 'FEE_CAPPED', tries: 4 }).build();
    tx.allocated(0n, 1n);
    expect(tx.progress).toMatchObject({ tries: 0, subState: null });
  });

  it('do not count a send that says nothing about the tx', () => {
    const tx = inMempool({ subState: 'OUTCOME_UNKNOWN', tries: 4 });
    tx.resubmitted(aHash(1), 'OUTCOME_UNKNOWN', IN_A_MINUTE, 'timeout', false);
    expect(tx.progress.tries).toBe(4);
    tx.resubmitted(aHash(1), 'OUTCOME_UNKNOWN', IN_A_MINUTE, 'timeout');
    expect(tx.progress.tries).toBe(5);
  });

  it('leave one event for all that came to the same', () => {
    const tx = aManagedTx().build();
    tx.postponed('NODE_REFUSED', 1, 'no');
    tx.postponed('NODE_REFUSED', 1, 'no');
    expect(tx.pendingEvents()).toHaveLength(1);
  });
});

describe('a slot that is being closed', () => {
  it('stays so whatever later sends say', () => {
    const tx = inMempool();
    tx.close('FAILED', 'no');
    tx.resubmitted(aHash(2), 'STALE', IN_A_MINUTE, null);
    expect(tx.progress).toMatchObject({ subState: 'REFUSED', failureReason: 'no' });
    expect([tx.isClosing, tx.isInDoubt]).toEqual([true, true]);
  });

  // Found by seed 555 of the simulator.
  it('fails its tx when a reorg puts the no-op in the place of the payload', () => {
    const tx = inMempool();
    tx.close('FAILED', 'no');
    tx.mined(aReceipt(), 'payload');
    tx.reorged();
    tx.mined(aReceipt(), 'no-op');
    tx.settled('execution reverted', null);
    expect([tx.state, tx.progress.failureReason]).toEqual(['FAILED', 'no']);
  });

  it('fails its tx when the no-op is mined, and not when the payload is', () => {
    const ends = (['payload', 'no-op'] as const).map((kind) => {
      const tx = inMempool({ closing: CLOSING, failureReason: 'no' });
      tx.mined(aReceipt(), kind);
      tx.settled('execution reverted', null);
      return [tx.state, tx.progress.failureReason];
    });
    expect(ends).toEqual([
      ['CONFIRMED', null],
      ['FAILED', 'no'],
    ]);
  });

  it('is closed still after a reorg, and a revert is forgotten with its block', () => {
    const closed = mined({ closing: CLOSING, failureReason: 'no' });
    closed.reorged();
    expect([closed.isClosing, closed.progress.failureReason]).toEqual([true, 'no']);
    const reverted = mined({ state: 'FAILED', failureReason: 'reverted', receipt: aReceipt({ status: 'reverted' }) });
    reverted.reorged();
    expect(reverted.progress).toMatchObject({ failureReason: null, receipt: null, subState: 'REORG_DETECTED' });
  });

  it('ends its tx when somebody else has the nonce', () => {
    const tx = inMempool({ closing: CLOSING, failureReason: 'no' });
    tx.foreignTxUsedNonce(aHash(9));
    expect([tx.state, tx.progress.failureReason]).toEqual(['FAILED', 'no']);
  });
});

describe('a doubt about the nonce', () => {
  it.each([
    ['IN_MEMPOOL', 'NONCE_SYNC', null, true],
    ['IN_MEMPOOL', 'CANCELLING', CLOSING, true],
    ['IN_MEMPOOL', 'STALE', null, false],
    ['MINED', 'NONCE_SYNC', null, false],
    ['FAILED', null, CLOSING, false],
    ['PENDING', 'NONCE_SYNC', null, false],
  ] as const)('%s, %s, closing %j: %p', (state, subState, closing, doubt) => {
    expect(inMempool({ state, subState, closing }).isInDoubt).toBe(doubt);
  });

  it('that was right leaves nothing of the old nonce', () => {
    const tx = inMempool({ subState: 'NONCE_SYNC', tries: 3, lastError: 'nonce too low' });
    tx.foreignTxUsedNonce(null);
    expect(tx.progress).toMatchObject({
      state: 'PENDING',
      nonce: null,
      txHash: null,
      subState: null,
      tries: 0,
      lastError: null,
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { DomainError, InvariantViolation } from '../../../src/kernel/errors.js';
import { type Closing, ManagedTx, type TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';

const FEES = { maxFeePerGas: 9n, maxPriorityFeePerGas: 4n };
const BYTES = { fees: FEES, gasLimit: 40_000n };
const FEES_IN_JSON = { maxFeePerGas: '9', maxPriorityFeePerGas: '4' };
const TIMERS = { resubmit: { inMs: 5_000 }, receiptCheck: { inMs: 7_000 } } as const;
const KEPT = { resubmit: 'keep', receiptCheck: 'keep' };
const CLEARED = { resubmit: 'clear', receiptCheck: 'clear' };
const AT_ONCE = { resubmit: { inMs: 0 }, receiptCheck: { inMs: 0 } };
const BLOCK = { number: 10, hash: aHash(0xb10c) };

const pending = (overrides: Partial<TxProgress> = {}) => aManagedTx(overrides).build();
const allocated = (overrides: Partial<TxProgress> = {}) =>
  pending({ state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n, ...overrides });
const inMempool = (overrides: Partial<TxProgress> = {}) =>
  allocated({ state: 'IN_MEMPOOL', txHash: aHash(1), ...overrides });
const mined = (overrides: Partial<TxProgress> = {}) => inMempool({ state: 'MINED', receipt: aReceipt(), ...overrides });
const CLOSING: Closing = { as: 'FAILED', reason: 'refused', won: false };
/** Its slot is being closed. */
const closing = (overrides: Partial<TxProgress> = {}) =>
  inMempool({ subState: 'REFUSED', failureReason: 'refused', closing: CLOSING, tries: 2, ...overrides });
/** Its slot is being closed because the client cancelled it. */
const CANCELLING: Closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: false };
const cancelling = () => closing({ closing: CANCELLING, failureReason: CANCELLING.reason });
/** A no-op was mined in its place, and it waits for another nonce. */
const REQUEUED: Closing = { as: 'PENDING', reason: 'pool is full', won: true };
const requeuing = (overrides: Partial<TxProgress> = {}) => mined({ closing: REQUEUED, ...overrides });
const fill = (overrides: Partial<TxProgress> = {}) => allocated({ kind: 'fill', ...overrides });

/** The only event that a change left. */
function eventOf(tx: ManagedTx): unknown {
  expect(tx.pendingEvents()).toHaveLength(1);
  const [event] = tx.pendingEvents();
  expect(event).toMatchObject({ signer: tx.signer, txId: tx.id });
  const { signer: _signer, txId: _txId, ...rest } = event ?? {};
  return rest;
}

describe('a tx that waits for a nonce', () => {
  it('gets one with its gas limit, and begins anew', () => {
    const tx = pending({ subState: 'FEE_CAPPED', tries: 3 });
    tx.allocated(7n, 21_000n);
    expect(tx.progress).toMatchObject({ state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n, subState: null, tries: 0 });
    expect(tx.timers).toEqual({ ...KEPT, resubmit: 'clear' });
    expect(tx.enteredState).toBe('ALLOCATED');
    const detail = { nonce: '7', gasLimit: '21000' };
    expect(eventOf(tx)).toEqual({ reason: 'nonce_reserved', from: 'PENDING', to: 'ALLOCATED', detail });
  });

  it('gets the nonce of its bytes that were out and lost', () => {
    const tx = pending({ subState: 'NONCE_SYNC' });
    tx.recovered(7n, 21_000n, aHash(3));
    expect(tx.progress).toMatchObject({ state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n, subState: null });
    expect(tx.timers).toEqual({ ...KEPT, resubmit: 'clear' });
    const detail = { nonce: '7', gasLimit: '21000' };
    expect(eventOf(tx)).toEqual({
      reason: 'nonce_recovered',
      from: 'PENDING',
      to: 'ALLOCATED',
      txHash: aHash(3),
      detail,
    });
  });

  it('keeps its nonce when its bytes are found and it has one already', () => {
    const tx = allocated({ subState: 'NONCE_SYNC' });
    tx.recovered(8n, 50_000n, aHash(3));
    expect(tx.progress).toMatchObject({ state: 'ALLOCATED', nonce: 7n, gasLimit: 21_000n, subState: 'NONCE_SYNC' });
    expect(tx.timers).toEqual(KEPT);
    const detail = { nonce: '8', gasLimit: '50000' };
    expect(eventOf(tx)).toEqual({
      reason: 'nonce_recovered',
      from: 'ALLOCATED',
      to: 'ALLOCATED',
      txHash: aHash(3),
      detail,
    });
  });

  it('is dropped when it expires', () => {
    const tx = pending({ subState: 'FEE_CAPPED' });
    tx.expired();
    expect(tx.progress).toMatchObject({ state: 'DROPPED', subState: null, failureReason: null });
    expect(tx.timers).toEqual(CLEARED);
    const error = 'expired before it was sent';
    const rest = { txHash: null, error, detail: null };
    expect(eventOf(tx)).toEqual({ reason: 'dropped', from: 'PENDING', to: 'DROPPED', ...rest });
  });

  it('has no nonce to ask for', () => {
    expect(allocated().nonce).toBe(7n);
    const ask = () => pending().nonce;
    expect(ask).toThrow(InvariantViolation);
    expect(ask).toThrow('the transaction has no nonce');
    expect(ask).toThrow(expect.objectContaining({ facts: { txId: pending().id } }));
  });
});

describe('a tx that is postponed', () => {
  it('is tried again after a while, counts its equal tries, and tells of the first one', () => {
    const tx = pending();
    tx.postponed('INSUFFICIENT_FUNDS', 1_000, 'no money');
    tx.postponed('INSUFFICIENT_FUNDS', 2_000, 'still no money');
    expect(tx.progress).toMatchObject({ subState: 'INSUFFICIENT_FUNDS', tries: 2, lastError: 'still no money' });
    expect(tx.timers).toEqual({ ...KEPT, resubmit: { inMs: 2_000 } });
    const detail = { subState: 'INSUFFICIENT_FUNDS' };
    expect(eventOf(tx)).toEqual({ reason: 'updated', from: 'PENDING', to: 'PENDING', error: 'no money', detail });
    expect(tx.equalTries('INSUFFICIENT_FUNDS')).toBe(2);
    expect(tx.equalTries('FEE_CAPPED')).toBe(0);
  });

  it('counts from one again when it waits for something else', () => {
    const tx = allocated({ subState: 'INSUFFICIENT_FUNDS', tries: 4 });
    tx.postponed('FEE_CAPPED', 1_000, 'too dear');
    expect(tx.progress).toMatchObject({ state: 'ALLOCATED', subState: 'FEE_CAPPED', tries: 1 });
    expect(tx.pendingEvents()).toHaveLength(1);
  });
});

describe('a tx with a nonce', () => {
  it('waits twice as long with each nonce in a row that a no-op used, an hour at most, until a node takes it', () => {
    const pauses: unknown[] = [];
    for (let requeues = 0; requeues < 13; requeues += 1) {
      const tx = requeuing({ requeues });
      tx.settled('', null);
      expect(tx.progress.requeues).toBe(requeues + 1);
      pauses.push(tx.timers.resubmit);
    }
    const seconds = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600];
    expect(pauses).toEqual(seconds.map((each) => ({ inMs: each * 1_000 })));
    const tx = allocated({ requeues: 3 });
    tx.sent(aHash(1), null, { resubmit: 'keep', receiptCheck: 'keep' }, null);
    expect(tx.progress.requeues).toBe(0);
  });

  it('waits for another one when a no-op has used it for good', () => {
    const tx = requeuing();
    const { receipt } = tx.progress;
    tx.settled('', null);
    expect(tx.progress).toMatchObject({
      ...{ state: 'PENDING', nonce: null, txHash: null, receipt: null, closing: null, failureReason: null },
      ...{ subState: 'NODE_REFUSED', tries: 1, lastError: 'pool is full' },
    });
    expect(tx.timers).toEqual({ resubmit: { inMs: 2_000 }, receiptCheck: 'clear' });
    expect(eventOf(tx)).toMatchObject({
      reason: 'updated',
      from: 'MINED',
      to: 'PENDING',
      txHash: receipt?.txHash,
      error: 'pool is full',
      detail: { subState: 'NODE_REFUSED', nonce: '7' },
    });
  });

  it('is confirmed when the payload is mined before the no-op', () => {
    const tx = requeuing({ closing: { ...REQUEUED, won: false } });
    tx.settled('', null);
    expect(tx.state).toBe('CONFIRMED');
  });

  it('is passed on when the database lost why another transaction has its nonce', () => {
    const tx = allocated({ txHash: aHash(1) });
    tx.passedOn('lost');
    expect(tx.progress).toMatchObject({ state: 'PENDING', nonce: null, subState: 'NONCE_SYNC', lastError: 'lost' });
    expect(tx.timers).toEqual({ resubmit: { inMs: 0 }, receiptCheck: 'clear' });
  });

  it.each(['signed', 'repriced'] as const)('names its bytes and their fees when it is %s', (call) => {
    const tx = allocated();
    if (call === 'signed') tx.signed(aHash(3), FEES);
    else tx.repriced({ txHash: aHash(3), ...BYTES });
    expect(tx.progress).toMatchObject({ state: 'ALLOCATED', txHash: aHash(3) });
    expect(tx.enteredState).toBeNull();
    expect(eventOf(tx)).toEqual({
      reason: call === 'signed' ? 'signed' : 'gas_bumped',
      from: 'ALLOCATED',
      to: 'ALLOCATED',
      txHash: aHash(3),
      detail: call === 'signed' ? FEES_IN_JSON : { ...FEES_IN_JSON, gasLimit: '40000' },
    });
  });

  it('is in the mempool once it was sent', () => {
    const tx = allocated({ subState: 'NODE_UNAVAILABLE', tries: 2, lastError: 'no answer' });
    expect(tx.submitted).toBe(false);
    tx.sent(aHash(3), null, TIMERS, null);
    expect(tx.progress).toMatchObject({
      state: 'IN_MEMPOOL',
      txHash: aHash(3),
      subState: null,
      tries: 0,
      lastError: null,
    });
    expect(tx.timers).toEqual(TIMERS);
    expect(tx.submitted).toBe(true);
    expect(eventOf(tx)).toEqual({
      reason: 'sent',
      from: 'ALLOCATED',
      to: 'IN_MEMPOOL',
      txHash: aHash(3),
      error: null,
    });
  });

  it('counts a send that is in doubt, unless that counts for nothing', () => {
    const counted = allocated();
    counted.sent(aHash(3), 'OUTCOME_UNKNOWN', TIMERS, 'timeout');
    expect(counted.progress).toMatchObject({ subState: 'OUTCOME_UNKNOWN', tries: 1, lastError: 'timeout' });
    const uncounted = allocated();
    uncounted.sent(aHash(3), 'OUTCOME_UNKNOWN', TIMERS, 'timeout', false);
    expect(uncounted.progress).toMatchObject({ subState: 'OUTCOME_UNKNOWN', tries: 0, lastError: 'timeout' });
  });

  it('fails with the reason when it is refused for good', () => {
    const tx = allocated({ txHash: aHash(1), subState: 'NODE_REFUSED' });
    tx.failed('out of gas');
    expect(tx.progress).toMatchObject({ state: 'FAILED', subState: null, failureReason: 'out of gas' });
    expect(tx.timers).toEqual(CLEARED);
    const rest = { txHash: aHash(1), error: 'out of gas', detail: null };
    expect(eventOf(tx)).toEqual({ reason: 'failed', from: 'ALLOCATED', to: 'FAILED', ...rest });
  });
});

describe('a tx in the mempool', () => {
  it('is sent again, and says what that came to', () => {
    const tx = inMempool({ subState: 'STALE', tries: 1 });
    tx.resubmitted(aHash(1), 'STALE', TIMERS, 'timeout');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE', tries: 2, lastError: 'timeout' });
    expect(tx.timers).toEqual(TIMERS);
    expect(tx.submitted).toBe(true);
    const rest = { txHash: aHash(1), error: 'timeout' };
    expect(eventOf(tx)).toEqual({ reason: 'resubmitted', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL', ...rest });
    tx.resubmitted(aHash(1), 'STALE', TIMERS, 'timeout', false);
    expect(tx.progress.tries).toBe(2);
  });

  it('stays one that is closing, whatever a further send of it comes to', () => {
    const tx = closing();
    tx.resubmitted(aHash(1), 'STALE', TIMERS, 'timeout');
    expect(tx.progress).toMatchObject({ subState: 'REFUSED', tries: 3 });
  });

  it('is asked for again when it has no receipt', () => {
    const tx = inMempool();
    tx.receiptMissing(4_000);
    expect(tx.timers).toEqual({ ...KEPT, receiptCheck: { inMs: 4_000 } });
    expect(tx.pendingEvents()).toEqual([]);
  });

  it.each([
    ['FAILED', 'REFUSED', 'refused'],
    ['PENDING', 'REFUSED', null],
    ['CANCELLED', 'CANCELLING', 'refused'],
  ] as const)('is closing when it is to be %s and may be out', (as, subState, failureReason) => {
    const tx = inMempool();
    expect([tx.isClosing, tx.isInDoubt]).toEqual([false, false]);
    tx.close(as, 'refused');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState, failureReason });
    expect(tx.progress).toMatchObject({
      closing: { as, reason: 'refused', won: false },
      tries: 1,
      lastError: 'refused',
    });
    expect(tx.timers).toEqual(AT_ONCE);
    expect([tx.isClosing, tx.isInDoubt]).toEqual([true, true]);
    const isRefused = as !== 'CANCELLED';
    expect(eventOf(tx)).toEqual({
      ...{ reason: isRefused ? 'refused' : 'updated', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL' },
      ...{ txHash: aHash(1), error: 'refused', detail: isRefused ? { subState, becomes: as } : { subState } },
    });
  });

  it('that only waits for another nonce can be cancelled, also when the no-op is in a block', () => {
    const waits = inMempool({ closing: { ...REQUEUED, won: false }, subState: 'REFUSED' });
    const won = requeuing();
    for (const tx of [waits, won]) {
      expect(tx.isBeingRequeued).toBe(true);
      tx.close('CANCELLED', CANCELLING.reason);
      expect(tx.isBeingRequeued).toBe(false);
      expect(tx.progress).toMatchObject({ failureReason: CANCELLING.reason });
    }
    expect(waits.progress).toMatchObject({ subState: 'CANCELLING', closing: CANCELLING });
    expect(won.progress).toMatchObject({ state: 'MINED', closing: { ...CANCELLING, won: true } });
    won.settled('', null);
    expect(won.progress).toMatchObject({ state: 'CANCELLED', failureReason: CANCELLING.reason });
    const payloadWon = mined({ closing: { ...REQUEUED, won: false } });
    expect(payloadWon.isBeingRequeued).toBe(false);
  });

  it('waits for another nonce also when a foreign transaction used this one before the no-op', () => {
    const tx = inMempool({ closing: { ...REQUEUED, won: false } });
    tx.foreignTxUsedNonce(null);
    expect(tx.progress).toMatchObject({ state: 'PENDING', nonce: null, closing: null });
  });

  it('is in it when it is to be closed and was never called sent', () => {
    const tx = allocated({ txHash: aHash(1) });
    tx.close('FAILED', 'refused');
    expect([tx.isClosing, tx.progress.closing]).toEqual([true, CLOSING]);
    const rest = { txHash: aHash(1), error: 'refused', detail: { subState: 'REFUSED', becomes: 'FAILED' } };
    expect(eventOf(tx)).toEqual({ reason: 'refused', from: 'ALLOCATED', to: 'IN_MEMPOOL', ...rest });
  });

  it('is in doubt when a node calls its nonce used, and only while it is there', () => {
    expect(inMempool({ subState: 'NONCE_SYNC' }).isInDoubt).toBe(true);
    expect(inMempool({ subState: 'STALE' }).isInDoubt).toBe(false);
    expect(pending({ subState: 'NONCE_SYNC' }).isInDoubt).toBe(false);
    expect([allocated({ closing: CLOSING }).isClosing, mined({ closing: CLOSING }).isClosing]).toEqual([false, false]);
  });

  it('is not closing because it has a reason to fail: only what says so is', () => {
    expect(inMempool({ failureReason: 'refused' })).toMatchObject({ isClosing: false, isInDoubt: false });
  });

  it('has a competitor once a no-op was signed for its nonce', () => {
    const tx = inMempool();
    tx.competitorSigned(aHash(5));
    expect(tx.progress.txHash).toBe(aHash(5));
    const rest = { txHash: aHash(5) };
    expect(eventOf(tx)).toEqual({ reason: 'competitive_sent', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL', ...rest });
  });

  it('waits for another nonce when its own was taken for good', () => {
    const tx = inMempool({ subState: 'NONCE_SYNC', tries: 3, lastError: 'nonce too low' });
    tx.foreignTxUsedNonce(aHash(6));
    expect(tx.progress).toMatchObject({ state: 'PENDING', nonce: null, txHash: null });
    expect(tx.progress).toMatchObject({ subState: null, tries: 0, lastError: null });
    expect(tx.timers).toEqual(CLEARED);
    const detail = { nonce: '7', usedBy: aHash(6) };
    const rest = { txHash: aHash(1), detail };
    expect(eventOf(tx)).toEqual({ reason: 'nonce_synced', from: 'IN_MEMPOOL', to: 'PENDING', ...rest });
  });

  it.each([
    ['FAILED', 'failed', closing()],
    ['CANCELLED', 'cancelled', cancelling()],
  ] as const)('ends %s with its reason when its nonce was taken while it was closing', (state, reason, tx) => {
    const { failureReason } = tx.progress;
    tx.foreignTxUsedNonce(aHash(6));
    expect(tx.progress).toMatchObject({ state, subState: null, failureReason, nonce: 7n });
    expect(tx.timers).toEqual(CLEARED);
    const rest = { txHash: aHash(1), error: failureReason, detail: { nonce: '7', usedBy: aHash(6) } };
    expect(eventOf(tx)).toEqual({ reason, from: 'IN_MEMPOOL', to: state, ...rest });
  });
});

describe('a tx in a block', () => {
  const CONFIRMATION = { newFork: false, confirmations: { from: 10, to: 10, hash: BLOCK.hash } };

  it('has its receipt, and nothing to wait for', () => {
    const tx = closing();
    tx.mined(aReceipt({ txHash: aHash(2) }));
    expect(tx.progress).toMatchObject({ state: 'MINED', txHash: aHash(2), receipt: aReceipt({ txHash: aHash(2) }) });
    expect(tx.progress).toMatchObject({ subState: null, tries: 0, lastError: null, failureReason: null });
    expect(tx.progress.closing).toEqual(CLOSING);
    expect(tx.timers).toEqual(CLEARED);
    const paid = { gasUsed: '21000', effectiveGasPrice: '1000000000', contractAddress: null };
    const detail = { status: 'success', ...paid, ...CONFIRMATION };
    const rest = { txHash: aHash(2), block: BLOCK, detail };
    expect(eventOf(tx)).toEqual({ reason: 'mined', from: 'IN_MEMPOOL', to: 'MINED', ...rest });
  });

  it.each([
    ['FAILED', 'failed', closing()],
    ['CANCELLED', 'cancelled', cancelling()],
  ] as const)('ends %s, with the reason of that, when the no-op was mined in its place', (state, reason, tx) => {
    const { failureReason } = tx.progress;
    tx.mined(aReceipt(), 'no-op');
    expect(tx.progress).toMatchObject({ state: 'MINED', failureReason, closing: { as: state, won: true } });
    tx.saved();
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state, failureReason });
    const detail = { newFork: false, confirmations: null };
    const rest = { txHash: aHash(1), block: BLOCK, detail, error: failureReason };
    expect(eventOf(tx)).toEqual({ reason, from: 'MINED', to: state, ...rest });
  });

  it('ends as its no-op has it even when that reverted: its reason is not that of a revert', () => {
    const tx = cancelling();
    tx.mined(aReceipt({ status: 'reverted' }), 'no-op');
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: 'CANCELLED', failureReason: CANCELLING.reason });
  });

  it('is confirmed when its payload was mined although it was to be cancelled', () => {
    const tx = cancelling();
    tx.mined(aReceipt());
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: 'CONFIRMED', failureReason: null, closing: { won: false } });
  });

  it('fails when a no-op was mined that nobody remembers', () => {
    const tx = inMempool();
    tx.mined(aReceipt(), 'no-op');
    const reason = 'a no-op used its nonce';
    expect(tx.progress).toMatchObject({ failureReason: reason, closing: { as: 'FAILED', reason, won: true } });
  });

  it('takes a receipt that changed', () => {
    const tx = mined();
    const changed = aReceipt({ gasUsed: 30_000n, status: 'reverted' });
    tx.receiptChanged(changed);
    expect(tx.progress).toMatchObject({ state: 'MINED', receipt: changed });
    const paid = { gasUsed: '30000', effectiveGasPrice: '1000000000', contractAddress: null };
    const rest = { txHash: aHash(1), block: BLOCK, detail: { status: 'reverted', ...paid } };
    expect(eventOf(tx)).toEqual({ reason: 'updated', from: 'MINED', to: 'MINED', ...rest });
  });

  it('is confirmed with the blocks on top of its own', () => {
    const tx = mined();
    tx.settled('execution reverted', { number: 20, hash: aHash(20) });
    expect(tx.progress).toMatchObject({ state: 'CONFIRMED', failureReason: null });
    const detail = { newFork: false, confirmations: { from: 11, to: 20, hash: aHash(20) } };
    const rest = { txHash: aHash(1), block: BLOCK, detail };
    expect(eventOf(tx)).toEqual({ reason: 'confirmed', from: 'MINED', to: 'CONFIRMED', ...rest });
  });

  it.each([null, 9, 10])('is confirmed without them where the head is %j', (number) => {
    const tx = mined();
    tx.settled('execution reverted', number === null ? null : { number, hash: aHash(number) });
    expect(eventOf(tx)).toMatchObject({ reason: 'confirmed', detail: { confirmations: null } });
  });

  it('fails with the reason of its revert', () => {
    const tx = mined({ receipt: aReceipt({ status: 'reverted' }) });
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted' });
    const detail = { newFork: false, confirmations: null };
    const rest = { txHash: aHash(1), block: BLOCK, detail, error: 'execution reverted' };
    expect(eventOf(tx)).toEqual({ reason: 'failed', from: 'MINED', to: 'FAILED', ...rest });
  });

  it('is not settled without a receipt: that would be a fault of ours', () => {
    const settle = () => mined({ receipt: null }).settled('', null);
    expect(settle).toThrow(new InvariantViolation('cannot settle a transaction without a receipt'));
    expect(settle).toThrow(expect.objectContaining({ facts: { txId: mined().id } }));
  });

  it('is sent again at once when its block is gone, and tells that all confirmations are void', () => {
    const tx = mined({ receipt: aReceipt({ status: 'reverted' }), failureReason: 'execution reverted' });
    tx.reorged();
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', receipt: null });
    expect(tx.progress).toMatchObject({ failureReason: null, tries: 0, lastError: null });
    expect(tx.timers).toEqual(AT_ONCE);
    const detail = { newFork: true, confirmations: null };
    const rest = { txHash: aHash(1), block: BLOCK, detail };
    expect(eventOf(tx)).toEqual({ reason: 'reorg_detected', from: 'MINED', to: 'IN_MEMPOOL', ...rest });
  });

  it.each([
    ['the no-op was', mined({ closing: { ...CANCELLING, won: true }, failureReason: CANCELLING.reason })],
    ['the payload was', mined({ closing: CANCELLING })],
    ['it was final', mined({ state: 'CANCELLED', closing: { ...CANCELLING, won: true }, failureReason: 'x' })],
  ])('is closed still when its block is gone, and %s in it', (_what, tx) => {
    tx.reorged();
    expect(tx.progress).toMatchObject({ closing: CANCELLING, failureReason: CANCELLING.reason });
    expect([tx.isClosing, tx.state]).toEqual([true, 'IN_MEMPOOL']);
  });
});

describe('a fill', () => {
  it('holds its slot from the beginning, and leaves the event of that', () => {
    const tx = ManagedTx.fill('fill-1', aSigner(), 7n, 22_000n);
    expect(tx.progress).toEqual({
      ...pending().progress,
      txId: 'fill-1',
      kind: 'fill',
      state: 'ALLOCATED',
      nonce: 7n,
      gasLimit: 22_000n,
    });
    expect([tx.enteredState, tx.timers]).toEqual(['ALLOCATED', KEPT]);
    const detail = { kind: 'fill', nonce: '7', gasLimit: '22000' };
    expect(eventOf(tx)).toEqual({ reason: 'nonce_reserved', from: null, to: 'ALLOCATED', detail });
  });

  it('is sent, mined and confirmed like a payload', () => {
    const tx = fill();
    tx.signed(aHash(3), FEES);
    tx.sent(aHash(3), null, TIMERS, null);
    tx.mined(aReceipt({ txHash: aHash(3) }));
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: 'CONFIRMED', kind: 'fill', closing: null, failureReason: null });
  });

  it('may be signed again at a higher price when it is out already, which no payload may', () => {
    const tx = fill({ state: 'IN_MEMPOOL', txHash: aHash(1) });
    tx.repriced({ txHash: aHash(3), ...BYTES });
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', txHash: aHash(3) });
    const rest = { txHash: aHash(3), detail: { ...FEES_IN_JSON, gasLimit: '40000' } };
    expect(eventOf(tx)).toEqual({ reason: 'gas_bumped', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL', ...rest });
  });

  it('is dropped when a foreign transaction used its nonce: there is no gap any more', () => {
    const tx = fill({ state: 'IN_MEMPOOL', txHash: aHash(1), subState: 'NONCE_SYNC' });
    tx.foreignTxUsedNonce(aHash(6));
    expect(tx.progress).toMatchObject({ state: 'DROPPED', subState: null, nonce: 7n, failureReason: null });
    expect(tx.timers).toEqual(CLEARED);
    const error = 'a foreign transaction used its nonce';
    const rest = { txHash: aHash(1), error, detail: { nonce: '7', usedBy: aHash(6) } };
    expect(eventOf(tx)).toEqual({ reason: 'dropped', from: 'IN_MEMPOOL', to: 'DROPPED', ...rest });
  });

  it('is in the mempool again when its block is gone', () => {
    const tx = fill({ state: 'CONFIRMED', receipt: aReceipt(), txHash: aHash(1) });
    tx.reorged();
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', closing: null, nonce: 7n });
  });
});

describe('a copy of a tx', () => {
  it('has nothing left to write when it was saved, and is a version further', () => {
    const tx = allocated({ version: 4 });
    tx.sent(aHash(3), null, TIMERS, null);
    tx.saved();
    expect(tx.progress.version).toBe(5);
    expect(tx.pendingEvents()).toEqual([]);
    expect(tx.timers).toEqual(KEPT);
    expect(tx.submitted).toBe(false);
  });

  it('does not change what it was made from', () => {
    const { progress } = pending();
    aManagedTx(progress).allocated();
    expect(progress.state).toBe('PENDING');
    expect(pending().signer).toEqual(aSigner());
  });
});

describe('a change that is not possible', () => {
  const CALLS: [string, ManagedTx, (tx: ManagedTx) => void][] = [
    ['recovered', mined(), (tx) => tx.recovered(1n, 1n, aHash(1))],
    ['postponed', inMempool(), (tx) => tx.postponed('STALE', 1, '')],
    ['passedOn', pending(), (tx) => tx.passedOn('')],
    ['failed', inMempool(), (tx) => tx.failed('')],
    ['close of what was mined', mined(), (tx) => tx.close('CANCELLED', '')],
    ['withdrawn', mined(), (tx) => tx.withdrawn('')],
    ['repriced', inMempool(), (tx) => tx.repriced({ txHash: aHash(1), ...BYTES })],
    ['signed', inMempool(), (tx) => tx.signed(aHash(1), FEES)],
    ['sent', inMempool(), (tx) => tx.sent(aHash(1), null, TIMERS, null)],
    ['resubmitted', allocated(), (tx) => tx.resubmitted(aHash(1), null, TIMERS, null)],
    ['bumped', allocated(), (tx) => tx.bumped({ txHash: aHash(1), ...BYTES }, 1)],
    ['feeCapped', mined(), (tx) => tx.feeCapped('')],
    ['feeSuffices', allocated(), (tx) => tx.feeSuffices()],
    ['repriced of a fill', mined({ kind: 'fill' }), (tx) => tx.repriced({ txHash: aHash(1), ...BYTES })],
    ['close', pending(), (tx) => tx.close('CANCELLED', '')],
    ['competitorSigned', allocated(), (tx) => tx.competitorSigned(aHash(1))],
    ['foreignTxUsedNonce', allocated(), (tx) => tx.foreignTxUsedNonce(null)],
    ['receiptChanged', inMempool(), (tx) => tx.receiptChanged(aReceipt())],
    ['failed', mined(), (tx) => tx.failed('')],
    ['expired', inMempool(), (tx) => tx.expired()],
  ];

  it.each(CALLS)('(%s) is refused with the present state, and changes nothing', (_name, tx, call) => {
    const before = { ...tx.progress };
    expect(() => call(tx)).toThrow(
      expect.objectContaining({
        code: 'illegal_transition',
        message: `not possible for a transaction that is ${before.state}`,
        advice: 'read its current state',
        facts: { txId: tx.id, state: before.state },
      }),
    );
    expect(tx.progress).toEqual(before);
    expect(tx.pendingEvents()).toEqual([]);
  });

  it('of its state is refused by name', () => {
    const tx = allocated();
    expect(() => tx.allocated(8n, 1n)).toThrow(DomainError);
    expect(() => tx.allocated(8n, 1n)).toThrow(
      expect.objectContaining({
        code: 'illegal_transition',
        message: 'a transaction that is ALLOCATED cannot become ALLOCATED',
        advice: 'read its current state',
        facts: { txId: tx.id, state: 'ALLOCATED' },
      }),
    );
  });
});

describe('a higher price', () => {
  it('is the next attempt of a tx in the mempool, which is sent soon even if this node dies', () => {
    const tx = inMempool();
    tx.bumped({ txHash: aHash(3), ...BYTES }, 5_000);
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'STALE', txHash: aHash(3), tries: 0 });
    expect(tx.timers).toEqual({ resubmit: { inMs: 5_000 }, receiptCheck: 'keep' });
    const rest = { txHash: aHash(3), detail: { ...FEES_IN_JSON, gasLimit: '40000' } };
    expect(eventOf(tx)).toEqual({ reason: 'gas_bumped', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL', ...rest });
  });

  it('of the no-op that closes a slot leaves the tx REFUSED', () => {
    const tx = inMempool();
    tx.close('FAILED', 'refused');
    tx.bumped({ txHash: aHash(3), ...BYTES }, 5_000);
    expect(tx.progress).toMatchObject({ subState: 'REFUSED', failureReason: 'refused' });
  });

  it('that the caps do not allow is what the tx waits for, and is said once', () => {
    const tx = inMempool();
    tx.feeCapped('above the caps');
    tx.feeCapped('above the caps');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'FEE_CAPPED', lastError: 'above the caps' });
    const rest = { error: 'above the caps', detail: { subState: 'FEE_CAPPED' } };
    expect(eventOf(tx)).toEqual({ reason: 'updated', from: 'IN_MEMPOOL', to: 'IN_MEMPOOL', ...rest });
  });

  it('stays what the tx waits for while it is sent again, until it is bumped or its price suffices', () => {
    const capped = (): ManagedTx => {
      const tx = inMempool();
      tx.feeCapped('above the caps');
      tx.resubmitted(aHash(1), 'STALE', TIMERS, null);
      return tx;
    };
    const [waiting, bumped, suffices, refused] = [capped(), capped(), capped(), capped()];
    bumped.bumped({ txHash: aHash(3), ...BYTES }, 1);
    suffices.feeSuffices();
    refused.resubmitted(aHash(1), 'INSUFFICIENT_FUNDS', TIMERS, 'no funds');
    expect([waiting, bumped, suffices, refused].map(({ progress }) => progress.subState)).toEqual([
      'FEE_CAPPED',
      'STALE',
      'STALE',
      'INSUFFICIENT_FUNDS',
    ]);
  });
});

it('the hash of a tx is that of the attempt that was sent last', () => {
  const tx = inMempool();
  tx.bumped({ txHash: aHash(3), ...BYTES }, 1);
  tx.resubmitted(aHash(1), 'STALE', TIMERS, null);
  expect(tx.progress.txHash).toBe(aHash(1));
});

it('of a hold that is closed it is told what its outside sender sent; of one that was named before only operators read it', () => {
  const reasons = (overrides: Partial<TxProgress>): string[] => {
    const tx = inMempool({ kind: 'hold', ...overrides });
    tx.usedBy(aHash(9));
    return tx.pendingEvents().map(({ reason }) => reason);
  };
  expect([reasons({ closing: CANCELLING }), reasons({})]).toEqual([['sent'], ['updated']]);
});

import { describe, expect, it } from '@jest/globals';
import type { Closing, ManagedTx, SubmitTimers, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { TX_STATES, type TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx, aReceipt } from '../../support/builders.js';

const CLEAR: SubmitTimers = { resubmit: 'clear', receiptCheck: 'clear' };
const AT_ONCE: SubmitTimers = { resubmit: { inMs: 0 }, receiptCheck: { inMs: 0 } };
const WATCHED: SubmitTimers = { resubmit: 'clear', receiptCheck: { inMs: 0 } };
const CANCELLING: Closing = { as: 'CANCELLED', reason: 'cancelled', won: false };

/** As it was read. It has a nonce in every state but PENDING. */
function aTx(state: TxState, overrides: Partial<TxProgress> = {}): ManagedTx {
  const nonce = state === 'PENDING' ? null : 7n;
  return aManagedTx({ txId: 'tx', state, nonce, txHash: aHash(1), ...overrides }).build();
}

const REPLACED = { replacedBy: 'replacement', subState: 'REPLACING' } as const;
const aReplacement = (): ManagedTx => aTx('ALLOCATED', { txId: 'replacement', txHash: aHash(2), replaces: 'tx' });
const OF_RIVAL = aReceipt({ txHash: aHash(2), blockNumber: 12, blockHash: aHash(0xb12) });

function eventOf(tx: ManagedTx): unknown {
  const events = tx.pendingEvents();
  expect(events).toHaveLength(1);
  return events[0];
}

/** The call is refused, and changes nothing, in every other state. */
function onlyFrom(
  states: readonly TxState[],
  call: (tx: ManagedTx) => void,
  overrides: Partial<TxProgress> = {},
): void {
  for (const state of TX_STATES.filter((other) => !states.includes(other))) {
    const tx = aTx(state, overrides);
    const before = { ...tx.progress };
    expect(() => call(tx)).toThrow(expect.objectContaining({ code: 'illegal_transition' }));
    expect([tx.progress, tx.pendingEvents()]).toEqual([before, []]);
  }
}

describe('a tx whose replacement was signed', () => {
  it('is only watched from now on, and names the replacement and its hash', () => {
    const tx = aTx('IN_MEMPOOL', { subState: 'STALE', tries: 3, lastError: 'no' });
    tx.raced(aReplacement());
    expect(tx.progress).toMatchObject({
      state: 'IN_MEMPOOL',
      ...REPLACED,
      tries: 0,
      lastError: null,
      txHash: aHash(1),
    });
    expect([tx.timers, tx.isResting, tx.mayHaveRivals]).toEqual([WATCHED, true, true]);
    expect(eventOf(tx)).toMatchObject({
      reason: 'competitive_sent',
      txHash: aHash(2),
      detail: { subState: 'REPLACING', replacedBy: 'replacement' },
    });
  });

  it('counts as sent when nobody wrote down whether it was', () => {
    const tx = aTx('ALLOCATED');
    tx.raced(aReplacement());
    expect([tx.state, tx.enteredState]).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    expect(tx.pendingEvents()).toMatchObject([
      { reason: 'sent', from: 'ALLOCATED', txHash: aHash(1) },
      { reason: 'competitive_sent', from: 'IN_MEMPOOL' },
    ]);
  });

  it('has a nonce, and is not mined', () => onlyFrom(['ALLOCATED', 'IN_MEMPOOL'], (tx) => tx.raced(aReplacement())));
});

describe('a tx whose replacement every endpoint refused', () => {
  it('is sent again at once, and nothing replaces it', () => {
    const tx = aTx('IN_MEMPOOL', REPLACED);
    tx.raceWithdrawn('replacement');
    const links = { replacedBy: null, withdrawnReplacement: 'replacement' };
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', ...links, subState: null });
    expect([tx.timers, tx.isResting]).toEqual([AT_ONCE, false]);
    expect(eventOf(tx)).toMatchObject({ reason: 'updated', detail: { subState: null, replacedBy: null } });
  });

  it('and was mined meanwhile is sent again after a reorg, because nobody else would be', () => {
    const tx = aTx('MINED', { receipt: aReceipt(), ...REPLACED });
    tx.raceWithdrawn('replacement');
    expect([tx.state, tx.timers.resubmit]).toEqual(['MINED', 'keep']);
    tx.reorged();
    expect([tx.progress.subState, tx.timers]).toEqual(['REORG_DETECTED', AT_ONCE]);
  });

  it('is in the mempool or mined', () => {
    onlyFrom(['IN_MEMPOOL', 'MINED'], (tx) => tx.raceWithdrawn('replacement'), REPLACED);
  });
});

describe('a replacement that every endpoint refused', () => {
  const WITHDRAWN = { replaces: 'other', subState: 'REPLACING', failureReason: 'too large' } as const;

  it.each<TxState>(['ALLOCATED', 'IN_MEMPOOL'])('rests with the words of the node, and is watched: %s', (state) => {
    const tx = aTx(state, { replaces: 'other' });
    tx.withdrawn('too large');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', ...WITHDRAWN, lastError: 'too large' });
    expect([tx.timers, tx.isResting, tx.isWithdrawn, tx.mayHaveRivals]).toEqual([WATCHED, true, true, true]);
    expect(eventOf(tx)).toMatchObject({ reason: 'refused', to: 'IN_MEMPOOL', error: 'too large' });
  });

  it('goes on resting when the other one was mined, and when a reorg orphaned it', () => {
    const tx = aTx('IN_MEMPOOL', WITHDRAWN);
    tx.rivalMined();
    expect([tx.timers, tx.isWithdrawn]).toEqual([CLEAR, true]);
    tx.rivalOrphaned();
    expect([tx.timers, tx.isWithdrawn]).toEqual([WATCHED, true]);
  });

  it('is FAILED with the words of the node when another transaction with its nonce is final', () => {
    const lost = aTx('IN_MEMPOOL', WITHDRAWN);
    lost.lostRace('DROPPED', 'other', OF_RIVAL);
    expect(lost.progress).toMatchObject({ state: 'FAILED', failureReason: 'too large', receipt: OF_RIVAL });
    expect(eventOf(lost)).toMatchObject({ reason: 'failed', error: 'too large', txHash: OF_RIVAL.txHash });
    const foreign = aTx('IN_MEMPOOL', WITHDRAWN);
    foreign.foreignTxUsedNonce(null);
    expect(foreign.progress).toMatchObject({ state: 'FAILED', failureReason: 'too large', receipt: null });
  });

  it('goes on as mined when it is mined all the same, and what it replaces is REPLACED by it', () => {
    const tx = aTx('IN_MEMPOOL', WITHDRAWN);
    tx.mined(aReceipt());
    expect([tx.isWithdrawn, tx.progress.failureReason]).toEqual([false, null]);
    const other = aTx('IN_MEMPOOL', { txId: 'other', withdrawnReplacement: 'tx' });
    expect(other.mayHaveRivals).toBe(true);
    other.lostRace('REPLACED', 'tx', OF_RIVAL);
    expect(other.progress).toMatchObject({ state: 'REPLACED', replacedBy: 'tx', withdrawnReplacement: null });
  });
});

describe('a tx with a rival', () => {
  it.each<TxState>(['ALLOCATED', 'IN_MEMPOOL'])('rests while the rival is mined, without an event: %s', (state) => {
    const tx = aTx(state, { replaces: 'other', subState: 'STALE', lastError: 'no', tries: 2 });
    tx.rivalMined();
    expect(tx.progress).toMatchObject({ state, subState: 'REPLACING', tries: 0, lastError: null });
    expect([tx.timers, tx.isResting, tx.pendingEvents()]).toEqual([CLEAR, true, []]);
  });

  it.each<TxState>(['ALLOCATED', 'IN_MEMPOOL'])('is sent again when the rival was orphaned: %s', (state) => {
    const tx = aTx(state, { replaces: 'other', subState: 'REPLACING' });
    tx.rivalOrphaned();
    expect(tx.progress).toMatchObject({ state, subState: 'REORG_DETECTED' });
    expect([tx.timers, tx.isResting, tx.pendingEvents()]).toEqual([AT_ONCE, false, []]);
  });

  it('is only watched when the rival was orphaned, while its own replacement is sent in its place', () => {
    const tx = aTx('IN_MEMPOOL', REPLACED);
    tx.rivalOrphaned();
    expect([tx.progress.subState, tx.timers]).toEqual(['REPLACING', WATCHED]);
  });

  it('is neither waiting nor mined', () => {
    onlyFrom(['ALLOCATED', 'IN_MEMPOOL'], (tx) => tx.rivalMined());
    onlyFrom(['ALLOCATED', 'IN_MEMPOOL'], (tx) => tx.rivalOrphaned());
  });

  it('does not rest while it waits for its command', () => {
    expect(aTx('PENDING', { subState: 'REPLACING', replaces: 'other' }).isResting).toBe(false);
  });

  it('is one that replaces or is replaced', () => {
    const tried = [{}, { replaces: 'other' }, { replacedBy: 'other' }];
    expect(tried.map((links) => aTx('IN_MEMPOOL', links).mayHaveRivals)).toEqual([false, true, true]);
  });
});

describe('a tx that lost its race', () => {
  it.each<[TxState, 'REPLACED' | 'DROPPED', string | null]>([
    ['IN_MEMPOOL', 'REPLACED', null],
    ['IN_MEMPOOL', 'DROPPED', 'the transaction that it replaces was mined'],
    ['ALLOCATED', 'DROPPED', 'the transaction that it replaces was mined'],
  ])('and was %s ends %s with the receipt of the winner', (state, as, reason) => {
    const isReplaced = as === 'REPLACED';
    const tx = aTx(state, { subState: 'REPLACING', replacedBy: isReplaced ? 'replacement' : null });
    tx.lostRace(as, 'replacement', OF_RIVAL);
    expect(tx.progress).toMatchObject({
      state: as,
      subState: null,
      receipt: OF_RIVAL,
      failureReason: reason,
      txHash: aHash(1),
      nonce: 7n,
    });
    expect(tx.timers).toEqual(CLEAR);
    expect(eventOf(tx)).toMatchObject({
      reason: isReplaced ? 'replaced' : 'dropped',
      detail: isReplaced ? { replacedBy: 'replacement' } : null,
      to: as,
      txHash: aHash(2),
      block: { number: 12, hash: aHash(0xb12) },
      error: reason,
    });
  });

  it('had a nonce, and was not mined itself', () => {
    onlyFrom(['ALLOCATED', 'IN_MEMPOOL', 'PENDING'], (tx) => tx.lostRace('REPLACED', 'other', OF_RIVAL));
  });

  it('and whose rival was orphaned by a deep reorg is open again, without the receipt of the rival', () => {
    const tx = aTx('IN_MEMPOOL', { replaces: 'other' });
    tx.lostRace('DROPPED', 'other', OF_RIVAL);
    tx.saved();
    tx.reorged();
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', receipt: null, failureReason: null });
    expect(tx.timers).toEqual(AT_ONCE);
  });

  it('and was cancelled before goes on being cancelled after such a reorg', () => {
    const tx = aTx('IN_MEMPOOL', { replaces: 'other', closing: CANCELLING });
    tx.lostRace('DROPPED', 'other', OF_RIVAL);
    tx.saved();
    tx.reorged();
    expect([tx.isClosing, tx.progress.failureReason]).toEqual([true, 'cancelled']);
  });
});

describe('a reorg that orphans the block of a tx', () => {
  const mined = (overrides: Partial<TxProgress>): ManagedTx => aTx('MINED', { receipt: aReceipt(), ...overrides });

  it('makes it rest, if its replacement is sent in its place', () => {
    const tx = mined(REPLACED);
    tx.reorged();
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REPLACING', receipt: null });
    expect([tx.timers, tx.isResting]).toEqual([WATCHED, true]);
  });

  it('has it sent again, if it is the newest of its slot', () => {
    const tx = mined({ replaces: 'other' });
    tx.reorged();
    expect([tx.progress.subState, tx.timers]).toEqual(['REORG_DETECTED', AT_ONCE]);
  });

  it('and is deeper than finality lets its replacement compete again', () => {
    const tx = mined({});
    tx.settled('execution reverted', null);
    tx.saved();
    tx.reorged();
    tx.racesAgain('replacement');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', ...REPLACED });
    expect([tx.timers, tx.isResting]).toEqual([WATCHED, true]);
    onlyFrom(['IN_MEMPOOL'], (other) => other.racesAgain('replacement'));
  });
});

describe('a final tx', () => {
  it.each<[string, Partial<TxProgress>, TxState]>([
    ['success', { receipt: aReceipt() }, 'CONFIRMED'],
    ['a revert', { receipt: aReceipt({ status: 'reverted' }) }, 'FAILED'],
    ['its no-op', { receipt: aReceipt(), closing: { ...CANCELLING, won: true } }, 'CANCELLED'],
  ])('that won by %s was replaced by nothing', (_what, overrides, end) => {
    const tx = aTx('MINED', { replacedBy: 'replacement', replaces: 'original', ...overrides });
    tx.settled('execution reverted', null);
    expect(tx.progress).toMatchObject({ state: end, replacedBy: null, replaces: 'original' });
  });
});

describe('what ends before anything of it was sent', () => {
  it.each<[string, TxState, string, (tx: ManagedTx) => void, Partial<TxProgress>]>([
    ['is cancelled', 'CANCELLED', 'cancelled', (tx) => tx.cancelled('not wanted'), { failureReason: 'not wanted' }],
    ['is replaced', 'REPLACED', 'replaced', (tx) => tx.replacedUnsent('replacement'), { replacedBy: 'replacement' }],
    ['expires', 'DROPPED', 'dropped', (tx) => tx.expired(), {}],
  ])('%s at once, with a nonce and without', (_what, end, reason, ends, left) => {
    for (const state of ['PENDING', 'ALLOCATED'] as const) {
      const tx = aTx(state, { subState: 'NODE_REFUSED', replaces: 'other' });
      ends(tx);
      expect(tx.progress).toMatchObject({ state: end, subState: null, receipt: null, ...left });
      expect(tx.timers).toEqual(CLEAR);
      expect(eventOf(tx)).toMatchObject({ reason, from: state, to: end });
      // No block decided this end, so no reorg can undo it.
      tx.saved();
      expect(() => tx.reorged()).toThrow(`a transaction that is ${end} cannot become IN_MEMPOOL`);
    }
    onlyFrom(['PENDING', 'ALLOCATED'], ends);
  });

  it('and is a replacement that never competed is DROPPED with the reason', () => {
    const tx = aTx('PENDING', { replaces: 'other', subState: 'REPLACING' });
    tx.dropped('not replaced: too late');
    expect(tx.progress).toMatchObject({ state: 'DROPPED', subState: null, failureReason: 'not replaced: too late' });
    expect(tx.timers).toEqual(CLEAR);
    expect(eventOf(tx)).toMatchObject({ reason: 'dropped', error: 'not replaced: too late' });
    onlyFrom(['PENDING'], (other) => other.dropped('no'));
  });

  it('and names its replacement also in its history', () => {
    const tx = aTx('PENDING');
    tx.replacedUnsent('replacement');
    expect(eventOf(tx)).toMatchObject({ detail: { replacedBy: 'replacement' } });
  });
});

describe('a tx that waits without a nonce', () => {
  it('and takes the place of its original is due at once, and its history says so', () => {
    const tx = aTx('PENDING', { replaces: 'other', subState: 'REPLACING' });
    tx.entersQueue();
    expect(tx.progress).toMatchObject({ state: 'PENDING', subState: null, replaces: 'other' });
    expect(tx.timers.resubmit).toEqual({ inMs: 0 });
    expect(eventOf(tx)).toMatchObject({ reason: 'updated', from: 'PENDING', detail: { subState: null } });
    onlyFrom(['PENDING'], (other) => other.entersQueue());
  });

  it('and gets another request is due at once, forgets its tries, and its history names the request', () => {
    const tx = aTx('PENDING', { subState: 'SIMULATION_REVERTED', tries: 4, lastError: 'reverted' });
    tx.edited('key');
    expect(tx.progress).toMatchObject({ state: 'PENDING', subState: null, tries: 0, lastError: null });
    expect(tx.timers.resubmit).toEqual({ inMs: 0 });
    expect(eventOf(tx)).toMatchObject({ reason: 'updated', detail: { replacedPayload: true, requestId: 'key' } });
    onlyFrom(['PENDING'], (other) => other.edited('key'));
  });

  it('and waits for its race does so still when it gets another request', () => {
    const tx = aTx('PENDING', { replaces: 'other', subState: 'REPLACING' });
    tx.edited('key');
    expect(tx.progress).toMatchObject({ subState: 'REPLACING' });
  });
});

describe('a slot that is being closed', () => {
  it('keeps its end and its reason when its no-op is refused', () => {
    const tx = aTx('IN_MEMPOOL', { closing: CANCELLING, failureReason: 'cancelled', subState: 'CANCELLING' });
    tx.close('FAILED', 'underpriced');
    expect(tx.progress).toMatchObject({ closing: CANCELLING, failureReason: 'cancelled', lastError: 'underpriced' });
    expect(tx.timers).toEqual(AT_ONCE);
    expect(eventOf(tx)).toMatchObject({ reason: 'updated', error: 'underpriced', detail: { subState: 'CANCELLING' } });
  });

  it('is closed for the first reason', () => {
    const tx = aTx('ALLOCATED');
    tx.close('CANCELLED', 'cancelled');
    tx.close('FAILED', 'refused');
    expect(tx.progress).toMatchObject({ state: 'IN_MEMPOOL', closing: CANCELLING, failureReason: 'cancelled' });
  });
});

describe('a foreign transaction used the nonce', () => {
  it.each<[string, TxState, Partial<TxProgress>, string]>([
    ['and the tx was replaced', 'REPLACED', { replacedBy: 'replacement' }, 'replaced'],
    ['and the tx was replaced and closed', 'REPLACED', { replacedBy: 'replacement', closing: CANCELLING }, 'replaced'],
    ['and the tx was cancelled', 'CANCELLED', { closing: CANCELLING }, 'cancelled'],
    ['and the tx is a replacement', 'PENDING', { replaces: 'other' }, 'nonce_synced'],
  ])('%s: it is %s', (_what, end, overrides, reason) => {
    const tx = aTx('IN_MEMPOOL', overrides);
    tx.foreignTxUsedNonce(aHash(9));
    expect(tx.progress).toMatchObject({ state: end, subState: null, ...overrides });
    expect(tx.timers).toEqual(CLEAR);
    const { replacedBy } = overrides;
    const replacement = replacedBy === undefined ? {} : { replacedBy };
    expect(eventOf(tx)).toMatchObject({ reason });
    expect(eventOf(tx)).toHaveProperty('detail', { nonce: '7', usedBy: aHash(9), ...replacement });
  });
});

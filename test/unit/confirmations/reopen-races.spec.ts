import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReopenTxs } from '../../../src/modules/confirmations/application/reopen-final.js';
import { ManagedTx } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const SLOT = { signer: aSigner(), nonce: 7n };
const GONE = aHash(0xb1);
const WINNING = aReceipt({ txHash: aHash(1), blockHash: GONE });

let txs: TxsInMemory;
let reopen: ReopenTxs;

beforeEach(() => {
  txs = new TxsInMemory();
  reopen = new ReopenTxs(ourWork, txs.asRepository(), txs.writes.asDoor(), new FakeMetrics(), new RecordingLog());
});

/** Final, with the receipt of the winner, as a race leaves each of its txs. */
function put(txId: string, progress: Partial<TxProgress>): void {
  txs.put(aManagedTx({ txId, ...SLOT, receipt: WINNING, ...progress }).build());
}

const reopened = (winner: string): Promise<void> =>
  reopen.execute(DEV_CHAIN, [ManagedTx.rehydrate(txs.of(winner))], new Set([GONE]));
const holders = (): unknown[] => txs.writes.written.flatMap(({ changes }) => changes.slots?.reopened ?? []);
const resubmits = (): Record<string, unknown> =>
  Object.fromEntries(txs.writes.txs.map(({ id, timers }) => [id, timers.resubmit]));

describe('a race whose deciding block a deep reorg orphans', () => {
  it('is open again: its replacement was mined, and is sent again', async () => {
    put('original', { state: 'REPLACED', replacedBy: 'replacement' });
    put('replacement', { state: 'CONFIRMED', replaces: 'original' });
    await reopened('replacement');
    expect(txs.of('original')).toMatchObject({ state: 'IN_MEMPOOL', replacedBy: 'replacement', receipt: null });
    expect(txs.of('replacement')).toMatchObject({ state: 'IN_MEMPOOL', replacedBy: null, receipt: null });
    expect(resubmits()).toEqual({ original: 'clear', replacement: { inMs: 0 } });
    expect(holders()).toEqual([{ ...SLOT, holder: 'replacement' }]);
  });

  it('is open again: its original was mined, and the replacement has the slot and is sent', async () => {
    put('original', { state: 'CONFIRMED' });
    put('replacement', {
      state: 'DROPPED',
      replaces: 'original',
      failureReason: 'the transaction that it replaces was mined',
    });
    await reopened('original');
    expect(txs.of('original')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REPLACING', replacedBy: 'replacement' });
    expect(txs.of('replacement')).toMatchObject({ state: 'IN_MEMPOOL', failureReason: null });
    expect(resubmits()).toEqual({ original: 'clear', replacement: { inMs: 0 } });
    expect(holders()).toEqual([{ ...SLOT, holder: 'replacement' }]);
    expect(txs.writes.written).toMatchObject([{ operation: 'reopen', changes: { attempts: { reopened: [SLOT] } } }]);
  });

  it('is open again with all three, and only the newest is sent', async () => {
    put('first', { state: 'REPLACED', replacedBy: 'second' });
    put('second', { state: 'FAILED', replaces: 'first' });
    put('third', { state: 'DROPPED', replaces: 'second' });
    await reopened('second');
    expect(txs.states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    expect(txs.of('second').replacedBy).toBe('third');
    expect(resubmits()).toEqual({ second: 'clear', first: 'clear', third: { inMs: 0 } });
    expect(holders()).toEqual([{ ...SLOT, holder: 'third' }]);
  });

  it('leaves out a replacement that had failed before the block', async () => {
    put('original', { state: 'CONFIRMED' });
    put('replacement', { state: 'FAILED', replaces: 'original', receipt: null });
    await reopened('original');
    expect(txs.of('original')).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REORG_DETECTED', replacedBy: null });
    expect(txs.of('replacement').state).toBe('FAILED');
    expect([resubmits(), holders()]).toEqual([{ original: { inMs: 0 } }, [{ ...SLOT, holder: 'original' }]]);
  });

  it('gives the slot to the second replacement, not to the first one that had failed', async () => {
    put('original', { state: 'CONFIRMED' });
    put('failed', { state: 'FAILED', replaces: 'original', receipt: null });
    put('replacement', { state: 'DROPPED', replaces: 'original' });
    await reopened('original');
    expect(holders()).toEqual([{ ...SLOT, holder: 'replacement' }]);
  });

  it('goes on being cancelled when its no-op had won', async () => {
    const closing = { as: 'CANCELLED', reason: 'cancelled', won: true } as const;
    put('original', { state: 'REPLACED', replacedBy: 'replacement' });
    put('replacement', { state: 'CANCELLED', replaces: 'original', closing });
    await reopened('replacement');
    expect(txs.of('replacement').closing).toEqual({ ...closing, won: false });
    expect(resubmits()).toEqual({ original: 'clear', replacement: { inMs: 0 } });
  });
});

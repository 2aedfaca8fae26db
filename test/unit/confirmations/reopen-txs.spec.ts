import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReopenTxs } from '../../../src/modules/confirmations/application/reopen-final.js';
import type { ManagedTx } from '../../../src/modules/ledger/index.js';
import { aHash, aManagedTx, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const [GONE, THERE] = [aHash(0xb1), aHash(0xb2)];

let txs: TxsInMemory;
let log: RecordingLog;
let metrics: FakeMetrics;
let reopen: ReopenTxs;

const forks = () => metrics.counted('confirmations_newFork_total')[''] ?? 0;

beforeEach(() => {
  [txs, log, metrics] = [new TxsInMemory(), new RecordingLog(), new FakeMetrics()];
  reopen = new ReopenTxs(ourWork, txs.asRepository(), txs.writes.asDoor(), metrics, log);
});

function final(blockHash = GONE, status: 'success' | 'reverted' = 'success'): ManagedTx {
  const tx = aManagedTx({ txId: 'tx-1' }).allocated(7n).sent().mined({ blockNumber: 10, blockHash, status }).build();
  tx.settled('execution reverted', null);
  tx.saved();
  txs.put(tx);
  return tx;
}

const reopened = (tx: ManagedTx): Promise<void> => reopen.execute(DEV_CHAIN, [tx], new Set([GONE]));

describe('a final tx in a block that is gone', () => {
  it.each([
    ['success' as const, 'CONFIRMED'],
    ['reverted' as const, 'FAILED'],
  ])('is open again with its slot and all its attempts, in one commit: %s', async (status, state) => {
    await reopened(final(GONE, status));
    expect(txs.of('tx-1')).toMatchObject({ state: 'IN_MEMPOOL', receipt: null, failureReason: null });
    expect(txs.events).toMatchObject([{ reason: 'reorg_detected', from: state }]);
    const slot = [{ nonce: 7n }];
    expect(txs.writes.written).toMatchObject([
      { operation: 'reopen', changes: { slots: { reopened: slot }, attempts: { reopened: slot } } },
    ]);
    expect([forks(), log.lines]).toMatchObject([1, [{ fields: { txId: 'tx-1', state, block: 10 } }]]);
  });
});

describe('nothing is taken back', () => {
  it.each([
    ['that was mined and became final in another block meanwhile', () => final(THERE)],
    [
      'that is open again already, and mined in the same block',
      () => txs.put(aManagedTx({ txId: 'tx-1' }).allocated(7n).sent().mined({ blockHash: GONE }).build()),
    ],
    [
      'that ended without a block',
      () => txs.put(aManagedTx({ txId: 'tx-1', state: 'FAILED', nonce: 7n, receipt: null }).build()),
    ],
  ])('%s', async (_words, moves) => {
    const tx = final();
    moves();
    const before = txs.of('tx-1');
    await reopened(tx);
    expect([txs.of('tx-1'), txs.saved, forks(), log.lines]).toEqual([before, [], 0, []]);
  });
});

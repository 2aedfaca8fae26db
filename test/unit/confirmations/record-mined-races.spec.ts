import { beforeEach, describe, expect, it } from '@jest/globals';
import { Chains, HeadTracker } from '../../../src/modules/chain/index.js';
import {
  type MinedAttempt,
  RealBlocks,
  RecordMined,
} from '../../../src/modules/confirmations/application/record-mined.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ExecutedAfterAll } from '../../../src/modules/lost-commits/application/executed-after-all.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const NONCE = 7n;

let txs: TxsInMemory;

beforeEach(() => {
  txs = new TxsInMemory();
  put('original', { replacedBy: 'replacement', subState: 'REPLACING' });
  put('replacement', { replaces: 'original' });
});

function put(txId: string, progress: Partial<TxProgress>): void {
  txs.put(aManagedTx({ txId, state: 'IN_MEMPOOL', nonce: NONCE, txHash: aHash(1), ...progress }).build());
}

function record(...mined: readonly MinedAttempt[]): Promise<MinedAttempt[]> {
  return new RecordMined(
    new RealBlocks(
      fakeOf(Chains, {}),
      fakeOf(HeadTracker, { hashAt: () => aReceipt().blockHash, tip: () => aReceipt().blockNumber }),
      new RecordingLog(),
    ),
    ourWork,
    txs.asRepository(),
    txs.writes.asDoor(),
    fakeOf(ExecutedAfterAll, { agreed: async () => [], record: async () => undefined }),
    new RecordingLog(),
  ).execute(DEV_CHAIN, mined);
}

function minedOf(txId: string, kind: 'payload' | 'cancel' = 'payload', nonce = NONCE): MinedAttempt {
  const attempt = anAttempt({ txId, nonce, kind, txHash: aHash(txId.length) });
  return { signer: aSigner(), attempt, receipt: aReceipt({ txHash: attempt.txHash }) };
}

const states = (): unknown[] => ['original', 'replacement'].map((id) => txs.of(id).state);

describe('of txs that compete for a slot', () => {
  it.each([
    ['original', 'replacement'],
    ['replacement', 'original'],
  ])('the %s is MINED and the %s rests, in one commit', async (winner, loser) => {
    await record(minedOf(winner));
    expect(txs.of(winner)).toMatchObject({ state: 'MINED', receipt: { txHash: aHash(winner.length) } });
    expect(txs.of(loser)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REPLACING', receipt: null });
    expect(txs.writes.written).toMatchObject([
      {
        operation: 'mined',
        changes: { txs: [{ id: winner }, { id: loser }], attempts: { decided: [{ txId: winner }] } },
      },
    ]);
    const [, resting] = txs.writes.txs;
    expect(resting?.timers).toEqual({ resubmit: 'clear', receiptCheck: 'clear' });
  });

  it('one that no node took rests, too', async () => {
    put('replacement', { replaces: 'original', state: 'ALLOCATED' });
    await record(minedOf('original'));
    expect(txs.of('replacement')).toMatchObject({ state: 'ALLOCATED', subState: 'REPLACING' });
  });

  it('one that has ended stays as it is', async () => {
    put('replacement', { replaces: 'original', state: 'FAILED', failureReason: 'too large' });
    await record(minedOf('original'));
    expect(txs.saved).toEqual(['original']);
  });

  it('the no-op of a cancelled replacement wins like a payload', async () => {
    put('replacement', { replaces: 'original', closing: { as: 'CANCELLED', reason: 'cancelled', won: false } });
    await record(minedOf('replacement', 'cancel'));
    expect(txs.of('replacement')).toMatchObject({ state: 'MINED', closing: { as: 'CANCELLED', won: true } });
    expect(txs.of('original').subState).toBe('REPLACING');
  });

  it('the same receipt that is found for both is written once', async () => {
    await record(minedOf('original'), minedOf('original'));
    await record(minedOf('original'));
    expect([txs.saved, states()]).toEqual([
      ['original', 'replacement'],
      ['MINED', 'IN_MEMPOOL'],
    ]);
  });

  it('those of another nonce go on', async () => {
    put('other', { nonce: 8n, replaces: 'another' });
    await record(minedOf('original'));
    expect([txs.of('other').subState, txs.saved]).toEqual([null, ['original', 'replacement']]);
  });
});

it('a tx without rivals costs no question about them', async () => {
  put('alone', { nonce: 9n });
  const asked: number[] = [];
  txs.rivals = async (some) => (asked.push(some.length), []);
  await record(minedOf('alone', 'payload', 9n), minedOf('original'));
  expect(asked).toEqual([1]);
  expect(txs.saved).toEqual(['alone', 'original']);
});

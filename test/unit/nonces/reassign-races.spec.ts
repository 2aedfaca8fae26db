import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AdoptSent } from '../../../src/modules/lost-commits/index.js';
import type { ForeignNonces } from '../../../src/modules/nonces/index.js';
import { ReassignNonces } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { Attempt, AttemptRepository } from '../../../src/modules/ledger/index.js';
import { LaneMemory, ManagedTx } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from '../confirmations/txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const SLOT = { signer: aSigner(), nonce: 4n };
const OF_ORIGINAL = anAttempt({ ...SLOT, txId: 'original', txHash: aHash(1) });
const OF_REPLACEMENT = anAttempt({ ...SLOT, txId: 'replacement', txHash: aHash(2) });

let txs: TxsInMemory;
let attempts: readonly Attempt[];
let reassign: ReassignNonces;

beforeEach(() => {
  [txs, attempts] = [new TxsInMemory(), [OF_ORIGINAL, OF_REPLACEMENT]];
  put('original', { replacedBy: 'replacement', subState: 'REPLACING' });
  put('replacement', { replaces: 'original', subState: 'NONCE_SYNC' });
  const memory = new LaneMemory(new FakeClock());
  memory.recovered([{ signer: SLOT.signer, owner: 'node', token: 1n }]);
  reassign = new ReassignNonces(
    {
      usedForGood: async (_: unknown, doubts: readonly object[]) => doubts.map((doubt) => ({ ...doubt, usedBy: null })),
    } as unknown as ForeignNonces,
    ourWork,
    txs.asRepository(),
    { ofSlots: async () => attempts } as unknown as AttemptRepository,
    txs.writes.asDoor(),
    { execute: async () => [] } as unknown as AdoptSent,
    memory,
    new RecordingLog(),
  );
});

function put(txId: string, progress: Partial<TxProgress>): void {
  txs.put(aManagedTx({ txId, ...SLOT, state: 'IN_MEMPOOL', ...progress }).build());
}

/** @param known the attempts that the proof is about */
const proven = (known: readonly Attempt[] = attempts): Promise<void> =>
  reassign.execute(DEV_CHAIN, [{ tx: ManagedTx.rehydrate(txs.of('replacement')), attempts: known }]);

describe('a foreign transaction took the nonce of a race', () => {
  it('and the newest waits for another nonce, while what it replaced ends and never moves', async () => {
    await proven();
    expect(txs.of('replacement')).toMatchObject({ state: 'PENDING', nonce: null });
    expect(txs.of('original')).toMatchObject({ state: 'REPLACED', nonce: 4n });
    const lost = [{ ...SLOT, txHash: null }];
    expect(txs.writes.written).toMatchObject([
      { operation: 'nonce_sync', changes: { attempts: { decided: lost }, slots: { consumed: lost } } },
    ]);
    expect(txs.saved).toEqual(['replacement', 'original']);
  });

  it('and the newest was being cancelled: none of them moves', async () => {
    put('replacement', { replaces: 'original', closing: { as: 'CANCELLED', reason: 'cancelled', won: false } });
    await proven();
    expect(txs.states()).toEqual(['REPLACED', 'CANCELLED']);
  });

  it('and one of the rivals had failed before: it stays as it is', async () => {
    put('failed', { replaces: 'original', state: 'FAILED' });
    await proven();
    expect([txs.of('failed').state, txs.saved]).toEqual(['FAILED', ['replacement', 'original']]);
  });

  it('and the proof does not count when it leaves out an attempt of a rival', async () => {
    await proven([OF_REPLACEMENT]);
    expect([txs.states(), txs.saved]).toEqual([['IN_MEMPOOL', 'IN_MEMPOOL'], []]);
  });
});

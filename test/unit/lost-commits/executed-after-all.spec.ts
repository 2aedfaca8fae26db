import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ChainConnector, Chains, type PlacedTx, type ReceiptLookup } from '../../../src/modules/chain/index.js';
import type { Hash } from '../../../src/kernel/hex.js';
import { type Attempt, AttemptRepository, LostCommitsRepository } from '../../../src/modules/ledger/index.js';
import { ExecutedAfterAll } from '../../../src/modules/lost-commits/application/executed-after-all.js';
import { aHash, aLease, aManagedTx, anAttempt, aReceipt, aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { TxsInMemory } from '../confirmations/txs-in-memory.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [NONCE, TX] = [7n, 'tx-1'];
const LEASE = aLease(aSigner());
const LATER = aReceipt({ blockNumber: aReceipt().blockNumber + 1, blockHash: aHash(0xb10c) });

let txs: TxsInMemory;
let asked: PlacedTx[];
let answer: ReceiptLookup;
let executed: ExecutedAfterAll;
/** Of single hashes. */
let answers: Map<Hash, ReceiptLookup>;
let attempts: Attempt[];

beforeEach(() => {
  txs = new TxsInMemory();
  asked = [];
  answer = { kind: 'found', receipt: LATER };
  [answers, attempts] = [new Map(), [anAttempt({ txId: TX, nonce: NONCE })]];
  const chain: Partial<ChainConnector> = {
    agreedReceipts: async (known) => {
      asked.push(...known);
      return known.map(({ txHash }) => answers.get(txHash) ?? answer);
    },
  };
  executed = new ExecutedAfterAll(
    fakeOf(Chains, { get: () => chain as ChainConnector }),
    txs.asRepository(),
    fakeOf(AttemptRepository, { ofSlots: async () => attempts }),
    fakeOf(LostCommitsRepository, { consumedFrom: async ({ nonce }) => [{ nonce, txId: TX }] }),
    txs.writes.asDoor(),
    new RecordingLog(),
  );
});

function ended(status: 'success' | 'reverted'): void {
  const tx = aManagedTx({ txId: TX }).allocated(NONCE).sent().mined({ status }).build();
  tx.settled('execution reverted', null);
  txs.put(tx);
}

describe('what used the nonce of a payload that failed', () => {
  it('was the payload, when enough endpoints tell that a later block has it', async () => {
    ended('reverted');
    await executed.lookFor(LEASE, NONCE);
    expect(txs.of(TX)).toMatchObject({ state: 'MINED', receipt: LATER, closing: { as: 'FAILED', won: false } });
    expect(asked).toMatchObject([{ txHash: anAttempt().txHash, blockHash: aReceipt().blockHash }]);
  });

  it.each<[string, ReceiptLookup]>([
    ['no block has it', { kind: 'none' }],
    ['it is where it failed', { kind: 'found', receipt: aReceipt({ status: 'reverted' }) }],
    ['it failed in a later block again', { kind: 'found', receipt: { ...LATER, status: 'reverted' } }],
  ])('was something else when %s', async (_words, told) => {
    ended('reverted');
    answer = told;
    await executed.lookFor(LEASE, NONCE);
    expect([txs.of(TX).state, txs.saved]).toEqual(['FAILED', []]);
  });

  it.each<ReceiptLookup>([
    { kind: 'unavailable', message: 'too few' },
    { kind: 'unclear', message: 'they contradict each other' },
  ])('is not known when the answer is $kind', async (told) => {
    ended('reverted');
    answer = told;
    await expect(executed.lookFor(LEASE, NONCE)).rejects.toMatchObject({ code: 'rpc_unavailable' });
    expect(txs.saved).toEqual([]);
  });

  it('is recorded where it is told, beside one of which it is not told, and why is told', async () => {
    ended('reverted');
    const [other, hash] = ['tx-2', aHash(0xff)];
    attempts.push(anAttempt({ txId: other, nonce: NONCE, txHash: hash }));
    const tx = aManagedTx({ txId: other }).allocated(NONCE).sent().mined({ status: 'reverted' }).build();
    tx.settled('execution reverted', null);
    txs.put(tx);
    answers.set(hash, { kind: 'unclear', message: 'HTTP 405' });
    await expect(executed.lookFor(LEASE, NONCE)).rejects.toMatchObject({
      message: expect.stringContaining('executed after all: HTTP 405'),
    });
    expect([txs.of(TX).state, txs.of(other).state]).toEqual(['MINED', 'FAILED']);
  });

  it('is not asked for where nothing failed', async () => {
    ended('success');
    await executed.lookFor(LEASE, NONCE);
    expect(asked).toEqual([]);
  });
});

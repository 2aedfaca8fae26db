import { expect, it } from '@jest/globals';
import {
  CheckReceipts,
  type DueTx,
  type PostponeReceiptChecks,
} from '../../../src/modules/confirmations/application/check-receipts.js';
import type { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { ReassignNonces, TxInDoubt } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { Attempt, AttemptRepository, ManagedTx, TxsInFlight } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 7n };

const aTx = (txId: string, progress: Partial<TxProgress>): ManagedTx =>
  aManagedTx({ txId, ...SLOT, state: 'IN_MEMPOOL', ...progress }).build();
const ORIGINAL = aTx('original', { replacedBy: 'replacement', subState: 'REPLACING' });
const REPLACEMENT = aTx('replacement', { replaces: 'original', subState: 'NONCE_SYNC' });
const ATTEMPTS = ['original', 'replacement'].map((txId, n) => anAttempt({ ...SLOT, txId, txHash: aHash(n + 1) }));

/** What the last look asked for. */
let asked: readonly Attempt[];
/** What it looks at again later. */
let postponed: DueTx[];

/** What came of a look: ids of the mined, of those that are asked for again, and of those whose nonce is in doubt. */
async function looked(
  due: readonly ManagedTx[],
  attempts: readonly Attempt[],
  mined: readonly Attempt[],
): Promise<(string | null)[][]> {
  const [recorded, doubts]: [MinedAttempt[], TxInDoubt[]] = [[], []];
  postponed = [];
  const keep = <Item>(kept: Item[]) => ({
    execute: async (_: unknown, items: readonly Item[]) => void kept.push(...items),
  });
  await new CheckReceipts(
    { heldOn: () => [{ signer: SIGNER }] } as unknown as LeaseManager,
    { dueForReceiptCheck: async () => due } as unknown as TxsInFlight,
    { ofSlots: async () => attempts } as unknown as AttemptRepository,
    {
      execute: async (_: unknown, some: readonly Attempt[]) =>
        new Map(
          (asked = some).map(({ txHash }) => [
            txHash,
            mined.some((attempt) => attempt.txHash === txHash)
              ? { kind: 'found', receipt: aReceipt({ txHash }) }
              : { kind: 'none' },
          ]),
        ),
    } as unknown as LookUpReceipts,
    keep(recorded) as unknown as RecordMined,
    keep(postponed) as unknown as PostponeReceiptChecks,
    { ...keep(doubts), ownBlock: () => null, searchStop: () => null } as unknown as ReassignNonces,
    new FakeMetrics(),
  ).execute(DEV_CHAIN);
  const ids = (some: readonly { readonly tx: ManagedTx }[]): string[] => some.map(({ tx }) => tx.id);
  return [recorded.map(({ attempt }) => attempt.txId), ids(postponed), ids(doubts)];
}

it('the receipts of all that compete for a slot are asked for, for each of them', async () => {
  await looked([ORIGINAL, REPLACEMENT], ATTEMPTS, []);
  expect(postponed.map(({ tx, attempts }) => [tx.id, attempts])).toEqual([
    ['original', ATTEMPTS],
    ['replacement', ATTEMPTS],
  ]);
});

it('a resting tx whose rival is mined is asked about again later, and not at once', async () => {
  const resting = aTx('replacement', { replaces: 'original', subState: 'REPLACING' });
  expect(await looked([resting], ATTEMPTS, ATTEMPTS.slice(0, 1))).toEqual([['original'], ['replacement'], []]);
  // Its own receipt makes it MINED, which ends its checks.
  expect(await looked([resting], ATTEMPTS, ATTEMPTS.slice(1))).toEqual([['replacement'], [], []]);
});

it('each attempt of a race is asked for and counted once, although two of its txs are due', async () => {
  expect(await looked([ORIGINAL, REPLACEMENT], ATTEMPTS, ATTEMPTS.slice(1))).toEqual([
    ['replacement'],
    ['original'],
    [],
  ]);
  expect(asked).toEqual(ATTEMPTS);
});

it('attempts of a tx that had the slot before, and moved on, are none of those of a tx without rivals', async () => {
  const own = anAttempt({ ...SLOT, txId: 'alone', txHash: aHash(3) });
  await looked([aTx('alone', {})], [...ATTEMPTS, own], []);
  expect(asked).toEqual([own]);
});

it('the nonce of a replacement is in no doubt while its original is mined', async () => {
  expect(await looked([REPLACEMENT], ATTEMPTS, ATTEMPTS.slice(0, 1))).toEqual([['original'], [], []]);
});

it('the nonce of a replacement is in doubt only when no receipt of its whole race is there', async () => {
  expect(await looked([REPLACEMENT], ATTEMPTS, [])).toEqual([[], ['replacement'], ['replacement']]);
});

it('the nonce of an original that rests is in no doubt of its own: its replacement is asked about', async () => {
  expect(await looked([ORIGINAL], ATTEMPTS, [])).toEqual([[], ['original'], []]);
});

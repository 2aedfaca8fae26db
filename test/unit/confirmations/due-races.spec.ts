import { expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import { CheckReceipts } from '../../../src/modules/confirmations/application/check-receipts.js';
import { DueReceipts } from '../../../src/modules/confirmations/application/due-receipts.js';
import type { DueTx } from '../../../src/modules/confirmations/application/due-receipts.js';
import type { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import type { PostponeReceiptChecks } from '../../../src/modules/confirmations/application/postpone-receipt-checks.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { ReassignNonces, TxInDoubt } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type {
  Attempt,
  AttemptRepository,
  ManagedTx,
  ManagedTxRepository,
} from '../../../src/modules/transactions/index.js';
import type { TxProgress } from '../../../src/modules/transactions/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 7n };

const aTx = (txId: string, progress: Partial<TxProgress>): ManagedTx =>
  aManagedTx({ txId, ...SLOT, state: 'IN_MEMPOOL', ...progress }).build();
const ORIGINAL = aTx('original', { replacedBy: 'replacement', subState: 'REPLACING' });
const REPLACEMENT = aTx('replacement', { replaces: 'original', subState: 'NONCE_SYNC' });
const ATTEMPTS = ['original', 'replacement'].map((txId, n) => anAttempt({ ...SLOT, txId, txHash: aHash(n + 1) }));

function dueOf(txs: readonly ManagedTx[], attempts: readonly Attempt[]): Promise<DueTx[]> {
  return new DueReceipts(
    { heldOn: () => [{ signer: SIGNER }] } as unknown as LeaseManager,
    { dueForReceiptCheck: async () => txs } as unknown as ManagedTxRepository,
    { ofSlots: async () => attempts } as unknown as AttemptRepository,
    new ConfirmationsConfig(),
  ).execute(DEV_CHAIN);
}

/** What the last look asked for. */
let asked: readonly Attempt[];

/** What came of a look: ids of the mined, of those that are asked for again, and of those whose nonce is in doubt. */
async function looked(due: readonly DueTx[], mined: readonly Attempt[]): Promise<(string | null)[][]> {
  const [recorded, postponed, doubts]: [MinedAttempt[], DueTx[], TxInDoubt[]] = [[], [], []];
  const keep = <Item>(kept: Item[]) => ({
    execute: async (_: unknown, items: readonly Item[]) => void kept.push(...items),
  });
  await new CheckReceipts(
    { execute: async () => due } as unknown as DueReceipts,
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
    keep(doubts) as unknown as ReassignNonces,
    { checked: () => undefined } as unknown as ReceiptMetrics,
  ).execute(DEV_CHAIN);
  const ids = (some: readonly { readonly tx: ManagedTx }[]): string[] => some.map(({ tx }) => tx.id);
  return [recorded.map(({ attempt }) => attempt.txId), ids(postponed), ids(doubts)];
}

it('the receipts of all that compete for a slot are asked for, for each of them', async () => {
  const due = await dueOf([ORIGINAL, REPLACEMENT], ATTEMPTS);
  expect(due.map(({ tx, attempts }) => [tx.id, attempts])).toEqual([
    ['original', ATTEMPTS],
    ['replacement', ATTEMPTS],
  ]);
});

it('a resting tx whose rival is mined is asked about again later, and not at once', async () => {
  const resting = aTx('replacement', { replaces: 'original', subState: 'REPLACING' });
  const mined = ATTEMPTS.slice(0, 1);
  expect(await looked(await dueOf([resting], ATTEMPTS), mined)).toEqual([['original'], ['replacement'], []]);
  // Its own receipt makes it MINED, which ends its checks.
  expect(await looked(await dueOf([resting], ATTEMPTS), ATTEMPTS.slice(1))).toEqual([['replacement'], [], []]);
});

it('each attempt of a race is asked for and counted once, although two of its txs are due', async () => {
  const due = await dueOf([ORIGINAL, REPLACEMENT], ATTEMPTS);
  expect(await looked(due, ATTEMPTS.slice(1))).toEqual([['replacement'], ['original'], []]);
  expect(asked).toEqual(ATTEMPTS);
});

it('attempts of a tx that had the slot before, and moved on, are none of those of a tx without rivals', async () => {
  const alone = aTx('alone', {});
  const own = anAttempt({ ...SLOT, txId: 'alone', txHash: aHash(3) });
  expect(await dueOf([alone], [...ATTEMPTS, own])).toMatchObject([{ attempts: [own] }]);
});

it('the nonce of a replacement is in no doubt while its original is mined', async () => {
  const due = await dueOf([REPLACEMENT], ATTEMPTS);
  expect(await looked(due, ATTEMPTS.slice(0, 1))).toEqual([['original'], [], []]);
});

it('the nonce of a replacement is in doubt only when no receipt of its whole race is there', async () => {
  const due = await dueOf([REPLACEMENT], ATTEMPTS);
  expect(await looked(due, [])).toEqual([[], ['replacement'], ['replacement']]);
});

it('the nonce of an original that rests is in no doubt of its own: its replacement is asked about', async () => {
  expect(await looked(await dueOf([ORIGINAL], ATTEMPTS), [])).toEqual([[], ['original'], []]);
});

import { beforeEach, expect, it, jest } from '@jest/globals';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import type { Hash } from '../../../src/kernel/hex.js';
import type { Receipt, ReceiptLookup } from '../../../src/modules/chain/index.js';
import { CheckReceipts } from '../../../src/modules/confirmations/application/check-receipts.js';
import type { DueReceipts, DueTx } from '../../../src/modules/confirmations/application/due-receipts.js';
import type { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import type { PostponeReceiptChecks } from '../../../src/modules/confirmations/application/postpone-receipt-checks.js';
import type { ReceiptMetrics } from '../../../src/modules/confirmations/application/receipt-metrics.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { ReassignNonces, TxInDoubt } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { Attempt } from '../../../src/modules/transactions/index.js';
import type { TxSubState } from '../../../src/modules/transactions/domain/tx-state-machine.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';

const TX = 'tx-1';
const ATTEMPTS = [1, 2].map((n) => anAttempt({ txId: TX, nonce: 0n, txHash: aHash(n) }));
const NO_ANSWER: ReceiptLookup = { kind: 'unavailable', message: 'no answer' };

let due: DueTx[];
/** What the chain says of a hash; undefined when nobody answers. */
let answer: (hash: Hash) => ReceiptLookup | undefined;
/** How many hashes each question had. */
let questions: number[];
let recorded: Receipt[];
let postponed: [txId: string, answered: boolean][];
let doubts: TxInDoubt[];
let check: CheckReceipts;
const checked = jest.fn();

beforeEach(() => {
  due = [aDue(TX, 'NONCE_SYNC', ATTEMPTS)];
  answer = () => ({ kind: 'none' });
  [questions, recorded, postponed, doubts] = [[], [], [], []];
  checked.mockClear();
  check = new CheckReceipts(
    { execute: async () => due } as unknown as DueReceipts,
    {
      execute: async (_chain: ChainId, some: readonly Attempt[]) => {
        questions.push(some.length);
        return new Map(some.flatMap(({ txHash }) => (answer(txHash) ? [[txHash, answer(txHash)]] : [])));
      },
    } as unknown as LookUpReceipts,
    {
      execute: async (_chain: ChainId, mined: readonly MinedAttempt[]) =>
        void recorded.push(...mined.map(({ receipt }) => receipt)),
    } as unknown as RecordMined,
    {
      execute: async (_chain: ChainId, missing: readonly (DueTx & { answered: boolean })[]) =>
        void postponed.push(...missing.map(({ tx, answered }): [string, boolean] => [tx.id, answered])),
    } as unknown as PostponeReceiptChecks,
    {
      execute: async (_chain: ChainId, items: readonly TxInDoubt[]) => void doubts.push(...items),
    } as unknown as ReassignNonces,
    { checked } as unknown as ReceiptMetrics,
  );
});

function aDue(txId: string, subState: TxSubState | null, attempts: readonly Attempt[]): DueTx {
  const tx = aManagedTx({ txId }).allocated(0n).build();
  tx.sent(aHash(1), subState, { resubmit: 'keep', receiptCheck: 'keep' }, null);
  return { signer: aSigner(), tx, attempts };
}

const look = (): Promise<void> => check.execute(DEV_CHAIN);
const counts = (found: number, none: number, error: number) => [
  ['found', found],
  ['none', none],
  ['error', error],
];

it('a nonce is in doubt when no attempt of its slot has a receipt', async () => {
  await look();
  expect(doubts).toMatchObject([{ tx: { id: TX }, attempts: ATTEMPTS }]);
  expect(postponed).toEqual([[TX, true]]);
  expect(checked.mock.calls).toEqual(counts(0, 1, 0));
});

it.each([0, 1])('an answer that is missing for one attempt is none for its tx: %d', async (silent) => {
  answer = (hash) => (hash === ATTEMPTS[silent]?.txHash ? NO_ANSWER : { kind: 'none' });
  await look();
  expect([doubts, postponed]).toEqual([[], [[TX, false]]]);
  expect(checked.mock.calls).toEqual(counts(0, 0, 1));
});

it('no answer at all says nothing of any tx', async () => {
  answer = () => undefined;
  await look();
  expect([doubts, recorded, postponed]).toEqual([[], [], [[TX, false]]]);
  expect(checked.mock.calls).toEqual(counts(0, 0, 1));
});

it.each([0, 1])('the receipt of any attempt of the slot is its tx’s, and nothing of it is in doubt: %d', async (n) => {
  const receipt = aReceipt({ txHash: ATTEMPTS[n]?.txHash ?? aHash(0) });
  answer = (hash) => (hash === receipt.txHash ? { kind: 'found', receipt } : { kind: 'none' });
  await look();
  expect([recorded, doubts, postponed]).toEqual([[receipt], [], []]);
  expect(checked.mock.calls).toEqual(counts(1, 0, 0));
});

it('a tx that is in no doubt keeps its nonce, whatever the chain says of it', async () => {
  due = [aDue(TX, null, ATTEMPTS)];
  await look();
  expect([doubts, postponed]).toEqual([[], [[TX, true]]]);
});

it('txs of which some are found are told apart', async () => {
  const [found, missing] = [anAttempt({ txId: 'a', txHash: aHash(8) }), anAttempt({ txId: 'b', txHash: aHash(9) })];
  due = [aDue('a', 'NONCE_SYNC', [found]), aDue('b', 'NONCE_SYNC', [missing])];
  const receipt = aReceipt({ txHash: found.txHash });
  answer = (hash) => (hash === found.txHash ? { kind: 'found', receipt } : { kind: 'none' });
  await look();
  expect([recorded, postponed, doubts.map(({ tx }) => tx.id)]).toEqual([[receipt], [['b', true]], ['b']]);
  expect(checked.mock.calls).toEqual(counts(1, 1, 0));
});

it('at most fifty txs are asked for in one call', async () => {
  due = Array.from({ length: 51 }, (_, n) => aDue(`tx-${n}`, null, [anAttempt({ txId: `tx-${n}`, txHash: aHash(n) })]));
  await look();
  expect([questions, postponed.length]).toEqual([[50, 1], 51]);
});

it('nothing is asked for when nothing is due', async () => {
  due = [];
  await look();
  expect([questions, checked.mock.calls]).toEqual([[], []]);
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainId, SignerId } from '../../../src/kernel/signer-id.js';
import type { Hash } from '../../../src/kernel/hex.js';
import type { BlockRef, Receipt, ReceiptLookup } from '../../../src/modules/chain/index.js';
import {
  CheckReceipts,
  type DueTx,
  type PostponeReceiptChecks,
} from '../../../src/modules/confirmations/application/check-receipts.js';
import type { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import type { MinedAttempt, RecordMined } from '../../../src/modules/confirmations/application/record-mined.js';
import type { ReassignNonces, TxInDoubt } from '../../../src/modules/nonces/application/reassign-nonces.js';
import type { LeaseManager, SlotRef } from '../../../src/modules/signers/index.js';
import type { Attempt, AttemptRepository, ManagedTx, TxsInFlight } from '../../../src/modules/ledger/index.js';
import type { TxSubState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const TX = 'tx-1';
const ATTEMPTS = [1, 2].map((n) => anAttempt({ txId: TX, nonce: 0n, txHash: aHash(n) }));
const NO_ANSWER: ReceiptLookup = { kind: 'unavailable', message: 'no answer' };

const [ALICE, BOB] = [aSigner(1), aSigner(2)];

/** The txs that are due, with the attempts of their slots. */
let due: { readonly tx: ManagedTx; readonly attempts: readonly Attempt[] }[];
/** Whose leases this node has. */
let held: SignerId[];
/** What the repository was asked for: of whom, and how many at most. */
let asked: { readonly signers: readonly string[]; readonly limit: number }[];
let slots: readonly SlotRef[];
/** What the chain says of a hash; undefined when nobody answers. */
let answer: (hash: Hash) => ReceiptLookup | undefined;
/** How many hashes each question had. */
let questions: number[];
let recorded: Receipt[];
let postponed: [txId: string, answered: boolean][];
let unclear: (string | null | undefined)[];
let withReceipt: string[];
let isAway: boolean;
let doubts: TxInDoubt[];
/** The block that lists an attempt without a receipt by hash, and the receipts of all its transactions. */
let ownBlock: BlockRef | null;
let searchStop: string | null;
let inBlock: Receipt[];
let blocksRead: unknown[];
let check: CheckReceipts;
let metrics: FakeMetrics;

beforeEach(() => {
  due = [aDue(TX, 'NONCE_SYNC', ATTEMPTS)];
  [held, asked, slots] = [[ALICE, BOB], [], []];
  answer = () => ({ kind: 'none' });
  [questions, recorded, postponed, doubts] = [[], [], [], []];
  [withReceipt, isAway] = [[], false];
  [ownBlock, searchStop, inBlock, blocksRead] = [null, null, [], []];
  metrics = new FakeMetrics();
  check = new CheckReceipts(
    { heldOn: () => held.map((signer) => ({ signer })) } as unknown as LeaseManager,
    {
      dueForReceiptCheck: async (_chain: unknown, signers: readonly string[], limit: number) => {
        asked.push({ signers, limit });
        return due.map(({ tx }) => tx);
      },
    } as unknown as TxsInFlight,
    {
      ofSlots: async (some: readonly SlotRef[]) => {
        slots = some;
        return due.flatMap(({ attempts }) => attempts);
      },
    } as unknown as AttemptRepository,
    {
      execute: async (_chain: ChainId, some: readonly Attempt[]) => {
        questions.push(some.length);
        return new Map(some.flatMap(({ txHash }) => (answer(txHash) ? [[txHash, answer(txHash)]] : [])));
      },
      inBlocks: async (_chain: ChainId, blocks: readonly unknown[]) => (blocksRead.push(...blocks), inBlock),
    } as unknown as LookUpReceipts,
    {
      execute: async (_chain: ChainId, mined: readonly MinedAttempt[]) => {
        if (isAway) throw new Error('no database');
        recorded.push(...mined.map(({ receipt }) => receipt));
      },
    } as unknown as RecordMined,
    {
      execute: async (
        _chain: ChainId,
        missing: readonly (DueTx & { answered: boolean; unclear?: string | null })[],
        found: readonly ManagedTx[],
      ) => {
        postponed.push(...missing.map(({ tx, answered }): [string, boolean] => [tx.id, answered]));
        unclear = missing.map((each) => each.unclear);
        withReceipt.push(...found.map(({ id }) => id));
      },
    } as unknown as PostponeReceiptChecks,
    {
      execute: async (_chain: ChainId, items: readonly TxInDoubt[]) => void doubts.push(...items),
      ownBlock: () => ownBlock,
      searchStop: () => searchStop,
    } as unknown as ReassignNonces,
    metrics,
  );
});

/** A tx of its own slot: nonce 0, or that of its attempts. */
function aDue(txId: string, subState: TxSubState | null, attempts: readonly Attempt[]) {
  const tx = aManagedTx({ txId, signer: attempts[0]?.signer ?? ALICE })
    .allocated(attempts[0]?.nonce ?? 0n)
    .build();
  tx.sent(aHash(1), subState, { resubmit: 'keep', receiptCheck: 'keep' }, null);
  return { tx, attempts };
}

const look = (): Promise<SignerId[]> => check.execute(DEV_CHAIN);
const checked = () => metrics.counted('receipt_check_total');

it('a nonce is in doubt when no attempt of its slot has a receipt', async () => {
  expect(await look()).toEqual([aSigner()]);
  expect(doubts).toMatchObject([{ tx: { id: TX }, attempts: ATTEMPTS }]);
  expect(postponed).toEqual([[TX, true]]);
  expect(checked()).toEqual({ none: 1 });
});

it.each([0, 1])('an answer that is missing for one attempt is none for its tx: %d', async (silent) => {
  answer = (hash) => (hash === ATTEMPTS[silent]?.txHash ? NO_ANSWER : { kind: 'none' });
  await look();
  expect([doubts, postponed]).toEqual([[], [[TX, false]]]);
  expect(checked()).toEqual({ error: 1 });
});

it('what is wrong with an answer that decides nothing is told', async () => {
  const [, second] = ATTEMPTS;
  answer = (hash) =>
    hash === second?.txHash
      ? { kind: 'unclear', message: 'receipt.status is not a hex quantity (#0)' }
      : { kind: 'none' };
  await look();
  expect([doubts, postponed, unclear]).toEqual([[], [[TX, false]], ['receipt.status is not a hex quantity (#0)']]);
});

it('no answer at all says nothing of any tx', async () => {
  answer = () => undefined;
  expect(await look()).toEqual([]);
  expect([doubts, recorded, postponed]).toEqual([[], [], [[TX, false]]]);
  expect(checked()).toEqual({ error: 1 });
});

it.each([0, 1])('the receipt of any attempt of the slot is its tx’s, and nothing of it is in doubt: %d', async (n) => {
  const receipt = aReceipt({ txHash: ATTEMPTS[n]?.txHash ?? aHash(0) });
  answer = (hash) => (hash === receipt.txHash ? { kind: 'found', receipt } : { kind: 'none' });
  expect(await look()).toEqual([]);
  expect([recorded, doubts, postponed]).toEqual([[receipt], [], []]);
  expect(checked()).toEqual({ found: 1 });
});

it('a tx that is in no doubt keeps its nonce, whatever the chain says of it', async () => {
  due = [aDue(TX, null, ATTEMPTS)];
  // The nonce of its signer may stand still all the same.
  expect(await look()).toEqual([aSigner()]);
  expect([doubts, postponed]).toEqual([[], [[TX, true]]]);
});

it('txs of which some are found are told apart', async () => {
  const [found, missing] = [
    anAttempt({ txId: 'a', nonce: 1n, txHash: aHash(8) }),
    anAttempt({ txId: 'b', nonce: 2n, txHash: aHash(9) }),
  ];
  due = [aDue('a', 'NONCE_SYNC', [found]), aDue('b', 'NONCE_SYNC', [missing])];
  const receipt = aReceipt({ txHash: found.txHash });
  answer = (hash) => (hash === found.txHash ? { kind: 'found', receipt } : { kind: 'none' });
  await look();
  expect([recorded, postponed, doubts.map(({ tx }) => tx.id)]).toEqual([[receipt], [['b', true]], ['b']]);
  expect(checked()).toEqual({ found: 1, none: 1 });
});

it('a tx with a receipt is due later where that could not be recorded, and so are the others', async () => {
  const [found, missing] = [
    anAttempt({ txId: 'a', nonce: 1n, txHash: aHash(8) }),
    anAttempt({ txId: 'b', nonce: 2n, txHash: aHash(9) }),
  ];
  due = [aDue('a', null, [found]), aDue('b', null, [missing])];
  const receipt = aReceipt({ txHash: found.txHash });
  answer = (hash) => (hash === found.txHash ? { kind: 'found', receipt } : { kind: 'none' });
  isAway = true;
  await expect(look()).rejects.toThrow('no database');
  expect([postponed, withReceipt]).toEqual([[['b', true]], ['a']]);
});

it('nothing is asked for when nothing is due', async () => {
  due = [];
  await look();
  expect([questions, checked()]).toEqual([[], {}]);
});

describe('txs whose receipts are due', () => {
  it('are read for the signers whose leases this node has, 500 in all', async () => {
    await look();
    expect(asked).toEqual([{ signers: [ALICE.address, BOB.address], limit: 250 }]);
  });

  it('are none, without a query, on a chain on which this node has no lease', async () => {
    held = [];
    expect(await look()).toEqual([]);
    expect([asked, questions]).toEqual([[], []]);
  });

  it('come with all attempts of their slots, each with its own', async () => {
    const [first, second] = [1, 2].map((n) => anAttempt({ signer: ALICE, nonce: 4n, txId: 'tx-a', txHash: aHash(n) }));
    const third = anAttempt({ signer: BOB, nonce: 9n, txId: 'tx-b', txHash: aHash(3) });
    const ofOther = anAttempt({ signer: BOB, nonce: 10n, txId: 'tx-d', txHash: aHash(4) });
    due = [
      aDue('tx-a', 'NONCE_SYNC', [first, second] as Attempt[]),
      aDue('tx-b', 'NONCE_SYNC', [third]),
      aDue('tx-c', 'NONCE_SYNC', [ofOther]),
    ];
    await look();
    expect(doubts.map(({ tx, attempts }) => [tx.id, attempts])).toEqual([
      ['tx-a', [first, second]],
      ['tx-b', [third]],
      ['tx-c', []],
    ]);
    expect(slots).toEqual([
      { signer: ALICE, nonce: 4n },
      { signer: BOB, nonce: 9n },
      { signer: BOB, nonce: 10n },
    ]);
  });
});

describe('an attempt that a block lists, and that no endpoint knows by its hash', () => {
  const BLOCK: BlockRef = { number: 7, hash: aHash(7) };

  it('is recorded by the receipts of its block', async () => {
    due.push(aDue('tx-2', 'NONCE_SYNC', [anAttempt({ txId: 'tx-2', nonce: 1n, txHash: aHash(3) })]));
    [ownBlock, inBlock] = [BLOCK, [2, 3, 9].map((n) => aReceipt({ txHash: aHash(n) }))];
    await look();
    expect(blocksRead).toEqual([BLOCK, BLOCK]);
    expect(recorded.map(({ txHash }) => txHash)).toEqual([aHash(2), aHash(3)]);
    expect(doubts).toHaveLength(2);
  });

  it('is told to wait for its receipt', async () => {
    ownBlock = BLOCK;
    await look();
    expect([recorded, unclear]).toEqual([[], ['block 7 has the transaction, and no endpoint tells its receipt']]);
  });

  it('is told to be searched for where the search stands still', async () => {
    searchStop = 'the search stands still';
    await look();
    expect(unclear).toEqual(['the search stands still']);
  });

  it('is looked for only while its nonce is in doubt', async () => {
    due = [aDue(TX, null, ATTEMPTS)];
    ownBlock = BLOCK;
    await look();
    expect([blocksRead, unclear]).toEqual([[], [null]]);
  });
});

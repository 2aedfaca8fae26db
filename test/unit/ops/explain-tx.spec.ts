import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import type { FinalityMode } from '../../../src/config/index.js';
import { ChainRules } from '../../../src/modules/chain/index.js';
import { ChainStanding, type Standing } from '../../../src/modules/ops/application/chain-standing.js';
import { ExplainTx } from '../../../src/modules/ops/application/explain-tx.js';
import { SignerLimits } from '../../../src/modules/ops/application/signer-limits.js';
import type { Surroundings } from '../../../src/modules/ops/application/tx-surroundings.js';
import type { TxFacts } from '../../../src/modules/ops/domain/tx-facts.js';
import { type AttemptView, TxQueries, type TxView } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aReceipt, aSigner, aFeeQuote } from '../../support/builders.js';
import { aTxView, anAttemptView } from '../../support/view-builders.js';

const REQUIRED = 20;
const QUOTE = aFeeQuote({ blockNumber: 12 });
/** Per gas, of the speed of the tx. */
const MARKET = 10n;

let tx: Partial<TxView> | null;
let around: Partial<Surroundings>;
let attempts: Partial<AttemptView>[];
let standing: Standing;
let finality: FinalityMode;
let asked: unknown[];
let explainTx: ExplainTx;

beforeEach(() => {
  [tx, around, attempts, finality, asked] = [{ state: 'PENDING' }, {}, [], 'depth', []];
  standing = { quote: QUOTE, balance: 1_000_000n, endpoints: [] };
  explainTx = new ExplainTx(
    fakeOf(TxQueries, { find: async () => tx && aTxView(tx), attempts: async () => attempts.map(anAttemptView) }),
    {
      of: async (...args: unknown[]) => (asked.push(args), { ...nothingAround(), ...around }),
    },
    fakeOf(ChainStanding, { execute: async () => (asked.push('chain'), standing) }),
    fakeOf(SignerLimits, { of: () => ({ configured: 64, learnt: null, delegated: false }) }),
    fakeOf(ChainRules, { finality: () => finality, requiredConfirmations: () => REQUIRED }),
  );
});

function nothingAround(): Surroundings {
  return {
    since: new Date(0),
    replacedBy: null,
    waitingAhead: { count: 0, value: 0n, gas: 0n, blobs: 0n },
    inFlight: 0,
    inFlightAhead: 0,
    blockedBy: null,
    committed: 0n,
    leaseOwner: null,
    paused: null,
    behind: null,
    external: false,
    nonceGap: null,
    command: null,
  };
}

async function facts(caller = ANYONE): Promise<TxFacts | undefined> {
  return (await explainTx.execute('tx', caller))?.facts;
}

it('a tx that does not exist is not explained', async () => {
  tx = null;
  expect(await explainTx.execute('tx', ANYONE)).toBeNull();
});

it('a final tx needs nothing from the chain', async () => {
  tx = { state: 'CONFIRMED' };
  expect(await facts()).toMatchObject({ queue: null, price: null, balance: null, mined: null });
  expect(asked).not.toContain('chain');
});

it('the words come with the facts', async () => {
  const explained = await explainTx.execute('tx', ANYONE);
  expect(explained?.explanation.summary).toMatch('waits for a nonce');
  expect(explained?.facts).toMatchObject({ since: '1970-01-01T00:00:00.000Z', attempts: 0 });
});

it('a command that waits, and the first no-op for its slot, are among the facts', async () => {
  tx = { state: 'IN_MEMPOOL', nonce: 7 };
  around = { command: { kind: 'cancel', since: new Date(1_000), tries: 2, dueAt: new Date(2_000) } };
  const wei = { maxFeePerGas: '9', maxPriorityFeePerGas: '1' };
  attempts = [
    { ...wei, kind: 'payload', createdAt: 'first' },
    { ...wei, kind: 'cancel', createdAt: 'second' },
    { ...wei, kind: 'cancel', createdAt: 'third' },
  ];
  expect(await facts()).toMatchObject({
    noOpSignedAt: 'second',
    command: { kind: 'cancel', since: '1970-01-01T00:00:01.000Z', tries: 2, nextTryAt: '1970-01-01T00:00:02.000Z' },
  });
});

it('a no-op that every node refused competes with nothing', async () => {
  tx = { state: 'IN_MEMPOOL', subState: 'CANCELLING', nonce: 7 };
  const wei = { maxFeePerGas: '9', maxPriorityFeePerGas: '1' };
  const refused = { ...wei, kind: 'cancel', status: 'REJECTED', createdAt: 'second' } as const;
  attempts = [{ ...wei, kind: 'payload', createdAt: 'first' }, refused];
  expect(await facts()).toMatchObject({ noOpSignedAt: null });
  attempts.push({ ...refused, status: 'ACCEPTED', createdAt: 'third' });
  expect(await facts()).toMatchObject({ noOpSignedAt: 'third' });
});

it('who has the nonce of a hold that is ahead is told to its own account, and to operators', async () => {
  const ahead = { nonce: 6n, state: 'ALLOCATED', heldBy: 'relayer' } as const;
  const heldBy = async (txId: string | null, account: string, scopes = ANYONE.scopes) => {
    around = { blockedBy: { ...ahead, txId } };
    return (await facts({ ...ANYONE, account, scopes }))?.blockedBy?.heldBy;
  };
  expect([await heldBy('own', 'other'), await heldBy(null, ANYONE.account)]).toEqual(['relayer', 'relayer']);
  expect([await heldBy(null, 'other'), await heldBy(null, ANYONE.account, ['tx:read'])]).toEqual([
    'another account',
    'another account',
  ]);
});

describe('the queue', () => {
  it('has those that wait and those in flight before the tx', async () => {
    around = { waitingAhead: { count: 3, value: 0n, gas: 0n, blobs: 0n }, inFlightAhead: 2 };
    expect((await facts())?.queue).toEqual({ position: 6, ahead: 5 });
  });

  it('is counted up to ten thousand', async () => {
    around = { waitingAhead: { count: 10_000, value: 0n, gas: 0n, blobs: 0n }, inFlightAhead: 2 };
    expect((await facts())?.queue).toEqual({ position: null, ahead: 10_000 });
    expect(asked).toContainEqual(['tx', aSigner(), 10_000]);
  });
});

describe('the balance', () => {
  const missing = async (): Promise<bigint | undefined> => (await facts())?.balance?.missing;

  it('must cover what is in flight, what is ahead in the queue, and a tx that waits', async () => {
    around = { committed: 100n, waitingAhead: { count: 1, value: 5n, gas: 21_000n, blobs: 0n } };
    standing = { ...standing, balance: 100n };
    const own = 7n + 21_000n * MARKET;
    expect((await facts())?.balance).toEqual({
      balance: 100n,
      committed: 100n,
      queuedAhead: 5n + 21_000n * MARKET,
      missing: 5n + 21_000n * MARKET + own,
    });
  });

  it('must cover blobs at twice the price of the next block', async () => {
    standing = { ...standing, quote: { ...QUOTE, blobBaseFee: 3n }, balance: 0n };
    around = { waitingAhead: { count: 1, value: 0n, gas: 0n, blobs: 2n } };
    tx = {
      state: 'PENDING',
      payload: { ...aTxView().payload, value: '0', gasLimit: '0', blobs: ['0x01'] },
    };
    const blob = 131_072n * 6n;
    expect((await facts())?.balance).toMatchObject({ queuedAhead: 2n * blob, missing: 3n * blob });
  });

  it('is compared with the gas that is known', async () => {
    standing = { ...standing, balance: 0n };
    tx = {
      state: 'PENDING',
      payload: {
        to: null,
        value: '0',
        data: '0x',
        gasLimit: '5',
        accessList: [],
        blobs: [],
        authorizationList: [],
        permits: [],
      },
    };
    expect(await missing()).toBe(5n * MARKET);
  });

  it('is not charged twice for a tx in flight', async () => {
    tx = { state: 'IN_MEMPOOL', nonce: 7 };
    around = { committed: 1_000_001n };
    expect(await missing()).toBe(1n);
    around = { committed: 1_000_000n };
    expect(await missing()).toBe(0n);
  });

  it.each(['quote', 'balance'] as const)('is not known without the %s of the chain', async (part) => {
    standing = { ...standing, [part]: null };
    expect((await facts())?.balance).toBeNull();
  });
});

it('the price is that of the attempts that may be out, and not known without a quote', async () => {
  tx = { state: 'IN_MEMPOOL', nonce: 7 };
  attempts = [
    { status: 'ACCEPTED', maxFeePerGas: '9', maxPriorityFeePerGas: '1' },
    { status: 'REJECTED', maxFeePerGas: '99', maxPriorityFeePerGas: '99' },
  ];
  const known = await facts();
  expect(known?.price?.highestAttempt).toEqual({ maxFeePerGas: 9n, maxPriorityFeePerGas: 1n });
  expect(known?.attempts).toBe(2);
  standing = { ...standing, quote: null };
  expect((await facts())?.price).toBeNull();
});

describe('a mined tx', () => {
  beforeEach(() => {
    const { blockNumber } = aReceipt();
    tx = { state: 'MINED', nonce: 7, receipt: { blockNumber } as NonNullable<TxView['receipt']> };
  });

  it('waits for the blocks that are missing', async () => {
    expect((await facts())?.mined).toEqual({ blockNumber: 10, required: REQUIRED, missing: 18 });
  });

  it('waits for as many as its request asks for', async () => {
    tx = { ...tx, confirmations: 2 };
    expect((await facts())?.mined).toEqual({ blockNumber: 10, required: 2, missing: 0 });
  });

  it('waits for a tag of the chain where that decides', async () => {
    finality = 'finalized';
    expect((await facts())?.mined).toEqual({ blockNumber: 10, required: null, missing: null });
  });

  it('waits for a number that is not known while the chain does not answer', async () => {
    standing = { ...standing, quote: null };
    expect((await facts())?.mined).toEqual({ blockNumber: 10, required: REQUIRED, missing: null });
  });
});

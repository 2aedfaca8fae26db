import { Chains } from '../../../src/modules/chain/domain/chain-connector.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import { ResendAttempts } from '../../../src/modules/lanes/application/resend-attempts.js';
import { BroadcastAttempts, RepricePayloads, type Sending, SignNoOps } from '../../../src/modules/sending/index.js';
import type { RefusedTx } from '../../../src/modules/sending/application/reprice-payloads.js';
import type { SlotToConsume } from '../../../src/modules/sending/application/sign-no-ops.js';
import type { Lease, SlotRef } from '../../../src/modules/signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
} from '../../../src/modules/ledger/index.js';
import type { AttemptStatus } from '../../../src/modules/ledger/domain/attempt.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';

const LEASE: Lease = { signer: aSigner(), owner: 'node', token: 1n };
const SLOT: SlotRef = { signer: LEASE.signer, nonce: 7n };
const FRESH = aHash(0xff);

let tx: ManagedTx;
/** As they are stored. */
let txs: ManagedTx[];
/** All attempts of the slot, oldest first. */
let stored: Attempt[];
/** What is signed anew: a no-op, or at another price. */
let noOps: Sending[];
let repriced: Sending[];
/** What the signing of no-ops and of other prices was asked for. */
let toConsume: SlotToConsume[];
let refused: RefusedTx[];
let asked: SlotRef[];
let sent: Sending[];
const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;

let metrics: FakeMetrics;
let custody: KeysOf;
let resends: ResendAttempts;

const aTx = (overrides: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId: 'tx', state: 'IN_MEMPOOL', ...SLOT, ...overrides }).build();
const anAttemptOf = (overrides: Partial<Attempt> = {}): Attempt => anAttempt({ ...SLOT, txId: 'tx', ...overrides });

beforeEach(() => {
  [tx, stored, noOps, repriced] = [aTx(), [], [], []];
  [toConsume, refused, asked, sent, metrics] = [[], [], [], [], new FakeMetrics()];
  const chains = fakeOf(Chains, { get: () => CHAIN });
  const reprice = fakeOf(RepricePayloads, {
    isDue: () => noOps.length + repriced.length > 0,
    execute: async (_chain: unknown, _leases: unknown, some: readonly RefusedTx[]) => {
      refused.push(...some);
      return repriced;
    },
  });
  const broadcast = fakeOf(BroadcastAttempts, {
    execute: async (_chain: unknown, _leases: unknown, sendings: readonly Sending[]) => {
      sent.push(...sendings);
      return [];
    },
  });
  custody = new KeysOf([]);
  resends = new ResendAttempts(
    chains,
    fakeOf(ManagedTxRepository, {
      byIds: async (ids: readonly string[]) => txs.filter(({ id }) => ids.includes(id)),
    }),
    fakeOf(AttemptRepository, { ofSlots: async (slots: readonly SlotRef[]) => (asked.push(...slots), stored) }),
    fakeOf(SignNoOps, {
      execute: async (_chain: unknown, _leases: unknown, slots: readonly SlotToConsume[]) => {
        toConsume.push(...slots);
        return noOps;
      },
    }),
    reprice,
    broadcast,
    metrics,
    custody,
  );
});

/** What their callers do one after the other. */
async function sendAgain(some: readonly ManagedTx[]): Promise<void> {
  txs = [...some];
  const { toRenew } = await resends.resend(DEV_CHAIN, [LEASE], some);
  if (toRenew.length > 0) await resends.renew(DEV_CHAIN, [LEASE], toRenew);
}

/** @returns of what was sent, the last digits of the hash, and what is known of it */
async function resent(...attempts: readonly Partial<Attempt>[]): Promise<[number, AttemptStatus][]> {
  stored = attempts.map((attempt, index) => anAttemptOf({ txHash: aHash(index), ...attempt }));
  [sent, toConsume] = [[], []];
  await sendAgain([tx]);
  return sent.map(({ attempt }) => [Number(BigInt(attempt.txHash)), attempt.status]);
}

/** Whether the slot was to get another no-op. */
async function signsNoOp(...attempts: readonly Partial<Attempt>[]): Promise<boolean> {
  await resent(...attempts);
  return toConsume.length > 0;
}

describe('what is sent again', () => {
  it('may be out already when nobody wrote down what its last send was answered', async () => {
    expect(await resent({ status: 'SIGNED' })).toEqual([[0, 'UNKNOWN']]);
  });

  it('is the attempt with the highest price that may be out, and where every node refused them all the newest', async () => {
    expect(await resent({ status: 'ACCEPTED' }, { status: 'REJECTED', errorClass: 'underpriced' })).toEqual([
      [0, 'ACCEPTED'],
    ]);
    expect([asked, metrics.counted('resubmit_total')]).toEqual([[SLOT], { same_bytes: 1 }]);
    expect(await resent({ status: 'REJECTED' }, { status: 'REJECTED' })).toEqual([[1, 'REJECTED']]);
  });

  it('is what its outside sender signed, where no node has the key, whatever was said of it', async () => {
    custody.external = [LEASE.signer];
    tx = aTx({ kind: 'fill' });
    const REFUSED = { kind: 'fill', status: 'REJECTED', errorClass: 'underpriced' } as const;
    expect([await resent(REFUSED), toConsume]).toEqual([[[0, 'REJECTED']], []]);
    await resends.renew(DEV_CHAIN, [LEASE], [tx]);
    expect(toConsume).toEqual([]);
  });

  it('is read again, and is nothing of what is not in flight or rests; it comes with its own attempts and all of its slot', async () => {
    const overrides: Partial<TxProgress>[] = [
      {},
      { txId: 'mined', state: 'MINED' },
      { txId: 'waits', state: 'PENDING' },
      { txId: 'rests', subState: 'REPLACING' },
      { txId: 'unsigned', state: 'ALLOCATED', nonce: 8n },
    ];
    stored = ['before', 'tx', 'tx'].map((txId, n) => anAttemptOf({ txId, txHash: aHash(n) }));
    txs = overrides.map(aTx);
    await resends.renew(DEV_CHAIN, [LEASE], txs);
    expect(refused).toMatchObject([{ tx: { id: 'tx' }, last: { txHash: aHash(2) } }]);
    expect(refused.map(({ attempts, ofSlot }) => [attempts.length, ofSlot.length])).toEqual([[2, 3]]);
  });

  it('is nothing when nothing of it was signed, or the attempts are of another tx of the slot', async () => {
    expect(await resent()).toEqual([]);
    expect(await resent({ txId: 'another' })).toEqual([]);
  });

  it('is nothing of a hold, until it is closed: then a no-op, also where nothing of it was seen, and never its own bytes', async () => {
    for (const own of [[], [{ kind: 'payload' as const }]]) {
      tx = aTx({ kind: 'hold' });
      expect([await signsNoOp(...own), sent]).toEqual([false, []]);
      tx = aTx({ kind: 'hold', closing: { as: 'CANCELLED', reason: 'closed', won: false } });
      expect([await signsNoOp(...own), sent]).toEqual([true, []]);
      expect(toConsume).toMatchObject([{ tx: { id: 'tx' }, attempts: own }]);
    }
    expect(await resent({ kind: 'payload' }, { kind: 'cancel' })).toEqual([[1, 'UNKNOWN']]);
  });

  it('is an attempt of its own slot, and outbids nothing else, where txs of several signers are late', async () => {
    const closing = { as: 'FAILED', reason: 'refused', won: false } as const;
    const [mine, other] = [aTx({ closing }), aTx({ txId: 'other', signer: aSigner(2), closing })];
    stored = [
      anAttemptOf({ kind: 'cancel', errorClass: 'underpriced', txHash: aHash(1) }),
      anAttemptOf({ kind: 'cancel', errorClass: 'underpriced', txId: 'other', signer: aSigner(2), txHash: aHash(2) }),
    ];
    await sendAgain([other, mine]);
    const expected = [
      ['other', aHash(2)],
      ['tx', aHash(1)],
    ];
    expect(sent.map(({ tx: { id }, attempt: { txHash } }) => [id, txHash])).toEqual(expected);
    expect(toConsume.map(({ tx: { id }, attempts }) => [id, ...attempts.map(({ txHash }) => txHash)])).toEqual(
      expected,
    );
  });

  it('is never the payload of a slot that is being closed, also when there is no no-op', async () => {
    tx = aTx({ closing: { as: 'CANCELLED', reason: 'cancelled', won: false } });
    expect(await resent({ status: 'ACCEPTED' })).toEqual([]);
  });

  it('is what was signed anew in place of the old bytes, and counts as no repetition', async () => {
    const fresh = { tx, attempt: anAttemptOf({ txHash: FRESH }) };
    for (const signAnew of [() => void (noOps = [fresh]), () => void ([noOps, repriced] = [[], [fresh]])]) {
      signAnew();
      expect(await resent({ status: 'ACCEPTED' })).toEqual([[0xff, 'SIGNED']]);
    }
    expect(metrics.values('resubmit_total')).toEqual(new Array(4).fill(0));
  });

  it('may get another price, which depends on all that was signed for the tx', async () => {
    repriced = [{ tx, attempt: anAttemptOf({ txHash: FRESH }) }];
    await resent({ status: 'REJECTED' }, { status: 'REJECTED' }, { txId: 'another' });
    expect(refused.map(({ attempts }) => attempts.length)).toEqual([2]);
  });
});

describe('what needs new bytes', () => {
  it('is a no-op where a slot is to be closed and another price where a payload was refused, and all of it is sent together', async () => {
    const closing = { as: 'CANCELLED', reason: 'no', won: false } as const;
    txs = [aTx({ txId: 'closing', closing }), aTx({ txId: 'refused', nonce: 8n }), aTx({ txId: 'same', nonce: 9n })];
    stored = txs.map(({ id: txId, nonce }) => anAttemptOf({ txId, nonce, status: 'ACCEPTED', txHash: aHash(1) }));
    const fresh = (txId: string): Sending => ({ tx: aTx({ txId }), attempt: anAttemptOf({ txHash: FRESH }) });
    [noOps, repriced] = [[fresh('closing')], [fresh('refused')]];
    await resends.renew(DEV_CHAIN, [LEASE], txs);
    expect(toConsume.map(({ tx: { id } }) => id)).toEqual(['closing']);
    expect(sent.map(({ tx: { id }, attempt: { txHash } }) => [id, txHash])).toEqual([
      ['same', aHash(1)],
      ['closing', FRESH],
      ['refused', FRESH],
    ]);
  });

  it('waits for a price by itself: what is signed was sent before, without a question', async () => {
    const closing = { as: 'FAILED', reason: 'refused', won: false } as const;
    txs = [aTx(), aTx({ txId: 'closing', nonce: 8n, closing })];
    stored = [anAttemptOf(), anAttemptOf({ txId: 'closing', nonce: 8n })];
    const { sent: same, toRenew } = await resends.resend(DEV_CHAIN, [LEASE], txs);
    expect([same, toRenew, sent].map((some) => some.length)).toEqual([1, 1, 1]);
    expect([same[0]?.id, toRenew[0]?.id, toConsume]).toEqual(['tx', 'closing', []]);
  });
});

describe('a tx', () => {
  it.each(['PENDING', 'MINED', 'CONFIRMED', 'DROPPED'] as const)(
    'that became %s meanwhile is not sent again',
    async (state) => {
      tx = aTx({ state });
      expect(await resent({ status: 'ACCEPTED' })).toEqual([]);
    },
  );

  it('that rests while another one of its slot is mined is not sent again', async () => {
    tx = aTx({ subState: 'REPLACING' });
    expect(await resent({ status: 'ACCEPTED' })).toEqual([]);
  });
});

describe('a slot that is being closed', () => {
  const noOp = (errorClass: Attempt['errorClass']): Partial<Attempt> => ({ kind: 'cancel', errorClass });
  beforeEach(() => {
    tx = aTx({ closing: { as: 'FAILED', reason: 'refused', won: false } });
  });

  it('gets a no-op when it has none yet, which has to outbid all that was signed for the slot', async () => {
    expect(await signsNoOp({ txId: 'before', status: 'ACCEPTED' }, { status: 'UNKNOWN' }, { status: 'REJECTED' })).toBe(
      true,
    );
    expect(toConsume.map(({ attempts }) => attempts.map(({ status }) => status))).toEqual([
      ['ACCEPTED', 'UNKNOWN', 'REJECTED'],
    ]);
  });

  it.each(['oversized_data', 'underpriced', 'replacement_underpriced'] as const)(
    'gets another when the last one was refused for what it is, or for its price: %s',
    async (errorClass) => {
      expect(await signsNoOp({}, noOp(errorClass))).toBe(true);
    },
  );

  it.each([null, 'txpool_full', 'nonce_too_low'] as const)(
    'has its no-op sent again when that was taken, or refused for another reason: %s',
    async (errorClass) => {
      expect(await signsNoOp({}, noOp(errorClass))).toBe(false);
      expect(sent.map(({ attempt }) => attempt.kind)).toEqual(['cancel']);
    },
  );

  it('may get another when the balance did not cover the last one, unless that was free', async () => {
    const at = (price: bigint) => ({ maxFeePerGas: price, maxPriorityFeePerGas: 0n });
    const unpaid = { ...noOp('insufficient_funds'), gasLimit: 21_000n };
    expect(await signsNoOp({}, { ...unpaid, fees: at(1n) })).toBe(true);
    expect(await signsNoOp({}, { ...unpaid, fees: at(0n) })).toBe(false);
  });

  it('is no slot of a tx that is only late', async () => {
    tx = aTx();
    expect(await signsNoOp({ errorClass: 'oversized_data' })).toBe(false);
  });
});

describe('a fill', () => {
  const refusals = (count: number, errorClass: Attempt['errorClass'] = 'oversized_data'): Partial<Attempt>[] =>
    Array.from({ length: count }, () => ({ kind: 'fill', status: 'REJECTED', errorClass }) as const);
  beforeEach(() => {
    tx = aTx({ kind: 'fill', state: 'ALLOCATED' });
  });

  it.each(['oversized_data', 'underpriced', 'replacement_underpriced'] as const)(
    'that was refused for what it is, or for its price, is signed anew: %s',
    async (errorClass) => {
      expect(await signsNoOp(...refusals(1, errorClass))).toBe(true);
    },
  );

  it.each([null, 'txpool_full', 'nonce_too_low'] as const)(
    'that was taken, or refused for another reason, is sent again as it is: %s',
    async (errorClass) => {
      expect(await signsNoOp(...refusals(1, errorClass))).toBe(false);
      expect(sent.map(({ attempt }) => attempt.kind)).toEqual(['fill']);
    },
  );

  it('outbids what may be out with its nonce, also of a tx that had the slot before', async () => {
    const before = { txId: 'before', status: 'ACCEPTED' } as const;
    await resent(before, ...refusals(1));
    expect(toConsume.map(({ attempts }) => attempts.map(({ txId }) => txId))).toEqual([['before', 'tx']]);
  });

  it('is signed again at another price however often it was too cheap', async () => {
    expect(await signsNoOp(...refusals(16, 'underpriced'))).toBe(true);
  });

  it('is signed with other gas sixteen times at most', async () => {
    expect(await signsNoOp(...refusals(15))).toBe(true);
    expect(await signsNoOp(...refusals(16))).toBe(false);
    expect(sent.map(({ attempt }) => attempt.txHash)).toEqual([aHash(15)]);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Receipt } from '../../../src/modules/chain/index.js';
import { LateReserves } from '../../../src/modules/confirmations/application/late-reserves.js';
import { SettleTxs } from '../../../src/modules/confirmations/application/settle-txs.js';
import type { MinedVerdict } from '../../../src/modules/confirmations/domain/mined-verdict.js';
import { ManagedTx } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const SLOT = { signer: aSigner(), nonce: 7n };
const NAMES = ['first', 'second', 'third'] as const;
type Name = (typeof NAMES)[number];
const HASHES = { first: aHash(1), second: aHash(2), third: aHash(3) } as const;
const LINKS: Record<Name, Partial<TxProgress>> = {
  first: { replacedBy: 'second' },
  second: { replaces: 'first', replacedBy: 'third' },
  third: { replaces: 'second' },
};

let txs: TxsInMemory;
let settle: SettleTxs;

beforeEach(() => {
  txs = new TxsInMemory();
  for (const name of NAMES) put(name, { subState: 'REPLACING' });
  settle = new SettleTxs(
    ourWork,
    txs.asRepository(),
    txs.writes.asDoor(),
    fakeOf(LateReserves, { make: async () => undefined }),
    new FakeMetrics(),
    new RecordingLog(),
  );
});

function put(name: Name, progress: Partial<TxProgress>): void {
  const whole = {
    txId: name,
    ...SLOT,
    state: 'IN_MEMPOOL',
    txHash: HASHES[name],
    ...LINKS[name],
    ...progress,
  } as const;
  txs.put(aManagedTx(whole).build());
}

const mined = (name: Name): void => put(name, { state: 'MINED', receipt: aReceipt({ txHash: HASHES[name] }) });
const settled = (verdicts: Partial<Record<Name, MinedVerdict>>): Promise<number> =>
  settle.execute(
    DEV_CHAIN,
    NAMES.filter((name) => verdicts[name]).map((name) => ManagedTx.rehydrate(txs.of(name))),
    {
      head: null,
      fresh: new Map(),
      verdictOf: ({ txHash }: Receipt) =>
        NAMES.flatMap((name) => (HASHES[name] === txHash ? (verdicts[name] ?? []) : []))[0] ?? 'open',
    },
  );
const states = (): string[] => NAMES.map((name) => txs.of(name).state);

describe('when the block of the winner is final', () => {
  it.each<[Name, string[]]>([
    ['first', ['CONFIRMED', 'DROPPED', 'DROPPED']],
    ['second', ['REPLACED', 'CONFIRMED', 'DROPPED']],
    ['third', ['REPLACED', 'REPLACED', 'CONFIRMED']],
  ])('all of its race end in the same commit, and the slot names the winner: %s', async (winner, ends) => {
    mined(winner);
    expect(await settled({ [winner]: 'final' })).toBe(1);
    expect(states()).toEqual(ends);
    expect(txs.writes.written).toMatchObject([
      { operation: 'settle', changes: { slots: { consumed: [{ ...SLOT, holder: winner, txHash: HASHES[winner] }] } } },
    ]);
    expect(txs.writes.txs).toHaveLength(3);
    for (const name of NAMES) expect(txs.of(name).receipt?.txHash).toBe(HASHES[winner]);
  });

  it('the winner was replaced by nothing, and keeps what it replaces', async () => {
    mined('second');
    await settled({ second: 'final' });
    expect(txs.of('second')).toMatchObject({ replaces: 'first', replacedBy: null });
    expect(txs.of('first').replacedBy).toBe('second');
  });
});

describe('when a reorg orphans the block of the winner', () => {
  it.each<[Name]>([['first'], ['second'], ['third']])(
    'the newest is sent again, and all are watched: %s',
    async (winner) => {
      mined(winner);
      expect(await settled({ [winner]: 'gone' })).toBe(1);
      expect(states()).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
      const timers = new Map(txs.writes.txs.map((tx) => [tx.id, tx.timers]));
      expect(NAMES.map((name) => timers.get(name)?.resubmit)).toEqual(['clear', 'clear', { inMs: 0 }]);
      expect(NAMES.map((name) => timers.get(name)?.receiptCheck)).toEqual([{ inMs: 0 }, { inMs: 0 }, { inMs: 0 }]);
      expect(txs.writes.slots('consumed')).toEqual([]);
    },
  );
});

describe('two txs of one slot that are MINED, of which one was orphaned', () => {
  it.each<[Name, Name, string[]]>([
    ['first', 'second', ['CONFIRMED', 'DROPPED', 'DROPPED']],
    ['second', 'first', ['REPLACED', 'CONFIRMED', 'DROPPED']],
  ])('end together when the other one is final: %s is final, %s is gone', async (final, gone, ends) => {
    mined(final);
    mined(gone);
    await settled({ [final]: 'final', [gone]: 'gone' });
    expect(states()).toEqual(ends);
    // The slot is decided: no attempt of it may be mined again.
    expect(txs.writes.written[0]?.changes.attempts).toEqual({ reopened: [] });
    // A tx that is saved twice in one change set conflicts with itself.
    expect(txs.saved).toHaveLength(new Set(txs.saved).size);
  });
});

it('txs without rivals cost no question about them', async () => {
  const asked: number[] = [];
  txs.rivals = async (some) => (asked.push(some.length), []);
  txs.put(aManagedTx({ txId: 'alone', ...SLOT, state: 'MINED', receipt: aReceipt() }).build());
  await settle.execute(DEV_CHAIN, [ManagedTx.rehydrate(txs.of('alone'))], {
    head: null,
    fresh: new Map(),
    verdictOf: () => 'final',
  });
  expect([asked, txs.saved]).toEqual([[0], ['alone']]);
});

describe('a replacement that was withdrawn', () => {
  const REFUSED = { subState: 'REPLACING', replaces: 'first', replacedBy: null, failureReason: 'too large' } as const;
  const original = (progress: Partial<TxProgress> = {}): void =>
    put('first', { replacedBy: null, withdrawnReplacement: 'second', subState: null, ...progress });

  beforeEach(() => {
    original();
    put('second', REFUSED);
    put('third', { state: 'CANCELLED', nonce: null, replaces: null });
  });

  it('is FAILED when the block of what it was to replace is final', async () => {
    original({ state: 'MINED', receipt: aReceipt({ txHash: HASHES.first }) });
    await settled({ first: 'final' });
    expect(states().slice(0, 2)).toEqual(['CONFIRMED', 'FAILED']);
    expect(txs.of('first').withdrawnReplacement).toBeNull();
  });

  it('is FAILED when a no-op used the nonce for good, while the payload of the other one waits for another nonce', async () => {
    const closing = { as: 'PENDING', reason: 'pool is full', won: true } as const;
    original({ state: 'MINED', receipt: aReceipt({ txHash: HASHES.first }), closing });
    await settled({ first: 'final' });
    expect(states().slice(0, 2)).toEqual(['PENDING', 'FAILED']);
    expect(txs.writes.slots('consumed')).toMatchObject([{ ...SLOT, holder: 'first', txHash: null }]);
  });

  it('ends the other one REPLACED when it is mined all the same', async () => {
    put('second', { ...REFUSED, failureReason: null, state: 'MINED', receipt: aReceipt({ txHash: HASHES.second }) });
    await settled({ second: 'final' });
    expect(states().slice(0, 2)).toEqual(['REPLACED', 'CONFIRMED']);
    expect(txs.of('first').replacedBy).toBe('second');
  });

  it('rests again when a reorg orphans its block, and the other one is sent', async () => {
    put('second', { ...REFUSED, failureReason: null, state: 'MINED', receipt: aReceipt({ txHash: HASHES.second }) });
    original({ subState: 'REPLACING' });
    await settled({ second: 'gone' });
    const timers = new Map(txs.writes.txs.map((tx) => [tx.id, tx.timers.resubmit]));
    expect([timers.get('first'), timers.get('second')]).toEqual([{ inMs: 0 }, 'clear']);
    expect(ManagedTx.rehydrate(txs.of('second')).isWithdrawn).toBe(true);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { AfterCommit } from '../../../src/modules/ledger/application/writing/after-commit.js';
import { BumpWatch } from '../../../src/modules/ledger/application/writing/bump-watch.js';
import type { ChangeSet } from '../../../src/modules/ledger/application/writing/change-set.js';
import { type InFlightLimits } from '../../../src/modules/ledger/application/writing/in-flight-limits.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { ManagedTx, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aReceipt, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [MINE, OTHER] = [aSigner(1), aSigner(2)];
const LEASES = [MINE, OTHER].map((signer) => ({ signer, owner: 'node', token: 1n }));
const IN_FLIGHT = 5;
const TIMERS = { resubmit: 'keep', receiptCheck: 'keep' } as const;

let clock: FakeClock;
let metrics: FakeMetrics;
let rung: (readonly SignerId[])[];
let memory: LaneMemory;
let limits: InFlightLimits;
let bumps: BumpWatch;
let after: AfterCommit;

beforeEach(() => {
  [metrics, rung] = [new FakeMetrics(), []];
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  // Nothing is open as far as the lanes know.
  memory.aligned(LEASES);
  memory.gapsChecked(LEASES);
  for (const lease of LEASES) memory.countedInFlight(lease, IN_FLIGHT);
  limits = inFlightLimits({}, clock);
  bumps = new BumpWatch(new ResubmitConfig(), clock);
  after = new AfterCommit(metrics, memory, bumps, { ring: (signers) => void rung.push(signers) }, limits);
});

/** A copy of a tx to which this happened in the commit. */
function changed(change: (tx: ManagedTx) => void, progress: Partial<TxProgress> = {}): ManagedTx {
  const tx = aManagedTx({ state: 'IN_MEMPOOL', nonce: 7n, txHash: aHash(1), signer: MINE, ...progress }).build();
  change(tx);
  return tx;
}

const slot = (signer = MINE) => ({ signer, nonce: 7n });
const ofBoth = (asks: (lease: (typeof LEASES)[number]) => unknown) => LEASES.map(asks);
const mayHaveGaps = () => ofBoth((lease) => memory.mayHaveGaps(lease));
const asksForNonce = () => ofBoth((lease) => memory.needsAlignment(lease, 1_000));
const hasRoom = () => ofBoth((lease) => memory.mayCountInFlight(lease));
const inFlight = () => ofBoth((lease) => memory.inFlight(lease));

it('after a failed write everything that is known of its signers, and of no other, is read anew', () => {
  memory.recovered(LEASES);
  limits.refused(MINE, 3);
  limits.refused(OTHER, 3);
  const look = (head: number) => bumps.due(MINE.chainId, LEASES, head);
  look(5);
  for (const lease of LEASES) bumps.looked(lease, null);
  after.inDoubt([MINE]);
  expect(ofBoth((lease) => memory.needsStep(lease))).toEqual([true, false]);
  expect(ofBoth((lease) => memory.inFlight(lease))).toEqual([null, IN_FLIGHT]);
  expect(ofBoth((lease) => limits.mayResend(lease))).toEqual([true, false]);
  expect(look(6)).toEqual([MINE]);
});

describe('metrics', () => {
  it('count every state that a fill or a tx entered, once for each commit, and nothing of what was only noted', () => {
    const fill = changed((tx) => tx.allocated(7n, 21_000n), { kind: 'fill', state: 'PENDING', nonce: null });
    const [tx, noted] = [changed((copy) => copy.mined(aReceipt())), changed((copy) => copy.competitorSigned(aHash(2)))];
    after.notify({ fills: [{ tx: fill, request: aRequest() }], txs: [tx], noted: [noted] });
    expect(metrics.counted('tx_state_total')).toEqual({ ALLOCATED: 1, MINED: 1 });
  });
});

describe('a lane looks for gaps', () => {
  it.each<[string, ChangeSet]>([
    ['released', { slots: { released: [slot()] } }],
    ['freed', { slots: { freed: [slot()] } }],
  ])('when a slot of its own signer was %s', (_what, changes) => {
    after.notify(changes);
    expect(mayHaveGaps()).toEqual([true, false]);
  });

  it('not when slots were taken or used', () => {
    const holders = [{ ...slot(), txId: 'tx' }];
    const consumed = [{ ...slot(), txHash: aHash(1) }];
    after.notify({ slots: { held: holders, adopted: holders, filled: holders, reopened: [slot()], consumed } });
    expect(mayHaveGaps()).toEqual([false, false]);
  });
});

describe('a lane asks the chain for its nonce', () => {
  const answer = (errorClass: NodeErrorClass | null): ChangeSet => {
    const said = { status: 'UNKNOWN', error: null, notSent: false, alone: false } as const;
    return { attempts: { answered: [{ attempt: anAttempt({ signer: MINE }), errorClass, ...said }] } };
  };

  it.each<[string, ChangeSet]>([
    ['a foreign transaction consumed its slot', { slots: { consumed: [{ ...slot(), txHash: null }] } }],
    ['nonces that others had used were freed', { slots: { freed: [slot()] } }],
    ['an authorization used a nonce', { slots: { forgotten: [slot()] } }],
    ['a node called its nonce used', answer('nonce_too_low')],
  ])('when %s', (_what, changes) => {
    after.notify(changes);
    expect(asksForNonce()).toEqual([true, false]);
  });

  it.each<[string, ChangeSet]>([
    ['one of ours consumed its slot', { slots: { consumed: [{ ...slot(), txHash: aHash(1) }] } }],
    ['a slot of it was released', { slots: { released: [slot()] } }],
    ['a node refused an attempt for its size', answer('oversized_data')],
    ['a node took an attempt', answer(null)],
  ])('not when %s', (_what, changes) => {
    after.notify(changes);
    expect(asksForNonce()).toEqual([false, false]);
  });
});

describe('what a lane has in flight', () => {
  it('grows by each tx and each fill that got a nonce', () => {
    const allocated = () => changed((tx) => tx.allocated(7n, 21_000n), { state: 'PENDING', nonce: null });
    const other = changed((tx) => tx.resubmitted(aHash(1), null, { resubmit: 'keep', receiptCheck: 'keep' }, null));
    after.notify({ fills: [{ tx: allocated(), request: aRequest() }], txs: [allocated(), other] });
    expect([inFlight(), hasRoom()]).toEqual([
      [IN_FLIGHT + 2, IN_FLIGHT],
      [false, false],
    ]);
  });

  it('does not grow by a replacement: it gets the slot of a tx that is counted already', () => {
    const tx = changed((copy) => copy.competes(7n, 21_000n), { txId: 'new', state: 'PENDING', nonce: null });
    after.notify({ txs: [tx], slots: { handedOver: [{ ...slot(), txId: 'new' }] } });
    expect(inFlight()).toEqual([IN_FLIGHT, IN_FLIGHT]);
  });

  it.each<[string, ManagedTx]>([
    ['was mined', changed((tx) => tx.mined(aReceipt()))],
    ['lost its nonce and waits for another at once', changed((tx) => tx.foreignTxUsedNonce(null))],
    ['was refused for good', changed((tx) => tx.failed('no'), { state: 'ALLOCATED' })],
    ['was a fill whose nonce others used', changed((tx) => tx.foreignTxUsedNonce(null), { kind: 'fill' })],
  ])('is counted again when a tx %s, and whoever acts for its signer is woken', (_what, tx) => {
    after.notify({ txs: [tx] });
    expect([hasRoom(), rung]).toEqual([[true, false], [[MINE]]]);
  });

  const receipt = aReceipt();
  const REQUEUED = { as: 'PENDING', reason: 'no', won: true } as const;
  it.each<[string, ManagedTx]>([
    [
      'became final in its block: there was room since it was mined',
      changed((tx) => tx.settled('', null), { state: 'MINED', receipt }),
    ],
    ['never had a nonce', changed((tx) => tx.expired(), { state: 'PENDING', nonce: null })],
    [
      'waits for a while before its next nonce',
      changed((tx) => tx.settled('', null), { state: 'MINED', receipt, closing: REQUEUED }),
    ],
    ['is in flight again after a reorg', changed((tx) => tx.reorged(), { state: 'MINED', receipt })],
    ['is where it was', changed((tx) => tx.receiptMissing(1))],
  ])('is not when a tx %s, and nobody is woken', (_what, tx) => {
    after.notify({ txs: [tx] });
    expect([hasRoom(), rung.flat()]).toEqual([[false, false], []]);
  });
});

it('the limit of a signer grows when all that it has in flight is mined, in however many commits', () => {
  for (const signer of [MINE, OTHER]) limits.refused(signer, IN_FLIGHT);
  const mined = (signer: SignerId) => changed((tx) => tx.mined(aReceipt()), { signer });
  after.notify({ txs: [mined(MINE), mined(OTHER), mined(MINE)] });
  expect([limits.of(MINE), limits.of(OTHER)]).toEqual([IN_FLIGHT, IN_FLIGHT]);
  after.notify({ txs: [mined(MINE), mined(MINE), mined(MINE)] });
  expect([limits.of(MINE), limits.of(OTHER)]).toEqual([IN_FLIGHT + 1, IN_FLIGHT]);
});

it('the limit of a signer halves when blocks leave what was sent in time for them', () => {
  const CROWD = 64;
  for (const lease of LEASES) memory.countedInFlight(lease, 2 * CROWD);
  limits.mined(MINE, 0n, { block: 1, count: CROWD, inFlight: CROWD });
  expect(limits.of(MINE)).toBe(2 * CROWD);
  after.notify({ txs: [changed((tx) => tx.sent(aHash(1), null, TIMERS, null), { state: 'ALLOCATED', nonce: 200n })] });
  for (const blockNumber of [2, 3, 4, 5]) {
    clock.advance(1_000);
    after.notify({ txs: [changed((tx) => tx.mined({ ...aReceipt(), blockNumber }), { nonce: BigInt(blockNumber) })] });
  }
  expect(limits.of(MINE)).toBe(CROWD);
});

describe('what is known of the daily amounts', () => {
  const RESERVE = { value: 3n, fees: 2n };
  const held = { ...slot(), txId: 'tx' };
  const known = () => ofBoth(({ signer, token }) => memory.dailySum(signer, token, 'mark')?.value ?? null);
  const NOTHING = { value: 0n, fees: 0n };
  const found = { ...anAttempt(slot()), pricedAtBlock: null };

  beforeEach(() => {
    memory.recovered(LEASES);
    for (const { signer, token } of LEASES) memory.summedUp(signer, token, 'mark', NOTHING);
  });

  it('grows with what slots reserve', () => {
    after.notify({ slots: { held: [{ ...held, reserve: RESERVE }, held] } });
    expect(known()).toEqual([3n, 0n]);
  });

  it.each<[string, ChangeSet]>([
    [
      'is in flight again after a reorg',
      { txs: [changed((tx) => tx.reorged(), { state: 'MINED', receipt: aReceipt() })] },
    ],
    ['was found to be sent', { attempts: { inserted: [found] } }],
    ['competes for a slot', { slots: { handedOver: [held] } }],
  ])('is not known any more when something %s: it may have no reserve, or too low a one', (_what, changes) => {
    after.notify(changes);
    expect(known()).toEqual([null, 0n]);
  });

  it.each<[string, ChangeSet]>([
    ['was signed', { attempts: { inserted: [{ ...found, pricedAtBlock: 7 }] } }],
    ['was sent', { txs: [changed((tx) => tx.sent(aHash(1), null, TIMERS, null), { state: 'ALLOCATED' })] }],
    ['was mined', { txs: [changed((tx) => tx.mined(aReceipt()))], attempts: { decided: [anAttempt(slot())] } }],
    [
      'became final',
      {
        txs: [changed((tx) => tx.settled('', null), { state: 'MINED', receipt: aReceipt() })],
        slots: { consumed: [{ ...slot(), txHash: aHash(1) }] },
      },
    ],
  ])('stays when something %s', (_what, changes) => {
    after.notify(changes);
    expect(known()).toEqual([0n, 0n]);
  });

  it('is not known any more of a signer with a failed write', () => {
    after.inDoubt([MINE]);
    expect(known()).toEqual([null, 0n]);
  });
});

describe('the doorbell', () => {
  it('rings once for each signer, however many of its txs left', () => {
    const mined = (signer: SignerId) => changed((tx) => tx.mined(aReceipt()), { signer });
    after.notify({ txs: [mined(MINE), mined(OTHER), mined(MINE)] });
    expect(rung).toEqual([[MINE, OTHER]]);
  });

  it('rings for freed nonces, which somebody has to fill, and not for released ones: their lane is at work', () => {
    after.notify({ slots: { freed: [slot(), slot()], released: [slot(OTHER)] } });
    expect(rung).toEqual([[MINE]]);
  });
});

describe('the next look for stuck txs', () => {
  const lookAt = (head: number) => bumps.due(MINE.chainId, LEASES, head).map(({ address }) => address);
  beforeEach(() => {
    lookAt(100);
    for (const lease of LEASES) bumps.looked(lease, null);
  });

  it.each<[string, ManagedTx]>([
    ['was sent', changed((tx) => tx.sent(aHash(1), null, TIMERS, null), { state: 'ALLOCATED' })],
    ['is in the mempool again after a reorg', changed((tx) => tx.reorged(), { state: 'MINED', receipt: aReceipt() })],
  ])('is some blocks after a tx of the signer %s', (_what, tx) => {
    after.notify({ txs: [tx] });
    expect([lookAt(104), lookAt(105)]).toEqual([[], [MINE.address]]);
  });

  it('is not brought about by anything else', () => {
    after.notify({ txs: [changed((tx) => tx.mined(aReceipt())), changed((tx) => tx.receiptMissing(1))] });
    expect(lookAt(1_000)).toEqual([]);
  });
});

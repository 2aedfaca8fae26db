import { beforeEach, describe, expect, it } from '@jest/globals';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const LEASE = { signer: aSigner(1), owner: 'me', token: 1n };
const OTHER = { ...LEASE, signer: aSigner(2) };
const STRANGER = aSigner(3);

let clock: FakeClock;
let memory: LaneMemory;

beforeEach(() => {
  clock = new FakeClock();
  memory = new LaneMemory(clock);
});

describe('a lane recovers', () => {
  it('once for each lease', () => {
    expect(memory.needsRecovery(LEASE)).toBe(true);
    memory.recovered([LEASE]);
    expect(memory.needsRecovery(LEASE)).toBe(false);
    expect(memory.needsRecovery(OTHER)).toBe(true);
    expect(memory.needsRecovery({ ...LEASE, token: 2n })).toBe(true);
  });

  it('again when it was forgotten, alone or with all', () => {
    memory.recovered([LEASE, OTHER]);
    memory.forget([LEASE.signer]);
    expect([LEASE, OTHER].map((lease) => memory.needsRecovery(lease))).toEqual([true, false]);
    memory.forgetAll();
    expect(memory.needsRecovery(OTHER)).toBe(true);
  });
});

describe('a lane asks the chain for its nonce', () => {
  it('before the first allocation, and when the answer is older than the limit', () => {
    expect(memory.needsAlignment(LEASE, 100)).toBe(true);
    memory.aligned([LEASE]);
    clock.advance(100);
    expect(memory.needsAlignment(LEASE, 100)).toBe(false);
    clock.advance(1);
    expect(memory.needsAlignment(LEASE, 100)).toBe(true);
  });

  it('at once after a nonce error of a node', () => {
    memory.aligned([LEASE, OTHER]);
    memory.distrustNonce(LEASE.signer);
    memory.distrustNonce(STRANGER);
    expect([LEASE, OTHER].map((lease) => memory.needsAlignment(lease, 100))).toEqual([true, false]);
  });
});

describe('the daily amounts of a signer', () => {
  const SUM = { value: 5n, fees: 2n };
  const sumOf = (lease = LEASE, mark = 'm1') => memory.dailySum(lease.signer, lease.token, mark);
  const hasReserves = (lease = LEASE, mark = 'm1') => memory.hasReserves(lease.signer, lease.token, mark);
  const holding = (signer = LEASE.signer) => ({ signer, nonce: 7n, txId: 'tx', reserve: { value: 10n, fees: 1n } });

  beforeEach(() => {
    memory.recovered([LEASE, OTHER]);
    for (const { signer, token } of [LEASE, OTHER]) memory.summedUp(signer, token, 'm1', SUM);
  });

  it('are known under the lease and the policies with which they were summed up', () => {
    expect([sumOf(), hasReserves()]).toEqual([SUM, true]);
    expect([sumOf({ ...LEASE, token: 2n }), hasReserves({ ...LEASE, token: 2n })]).toEqual([null, false]);
    expect([sumOf(LEASE, 'm2'), hasReserves(LEASE, 'm2')]).toEqual([null, false]);
  });

  it('grow by what slots reserve', () => {
    const { reserve: _reserve, ...without } = holding();
    memory.reserved([holding(), without, holding(), holding(STRANGER)]);
    expect([sumOf(), sumOf(OTHER)]).toEqual([{ value: 25n, fees: 4n }, SUM]);
  });

  it('are summed up again after ten seconds at the latest, those of all signers at the same time; their reserves stay known', () => {
    clock.advance(4_000 - (clock.monotonicMs() % 10_000));
    memory.summedUp(OTHER.signer, OTHER.token, 'm1', SUM);
    const isKnown = () => [LEASE, OTHER].map((lease) => [sumOf(lease) !== null, hasReserves(lease)]);
    clock.advance(5_999);
    expect(isKnown()[1]).toEqual([true, true]);
    clock.advance(1);
    memory.reserved([holding(OTHER.signer)]);
    expect(isKnown()).toEqual([
      [false, true],
      [false, true],
    ]);
  });

  it('are summed up again after 200 slots: each leaves a row to settle', () => {
    const slots = (count: number) => memory.reserved(Array.from({ length: count }, () => holding()));
    slots(199);
    expect(sumOf()).not.toBeNull();
    slots(1);
    expect([sumOf(), hasReserves(), sumOf(OTHER)]).toEqual([null, true, SUM]);
    memory.summedUp(LEASE.signer, LEASE.token, 'm1', SUM);
    expect(sumOf()).toEqual(SUM);
  });

  it('are forgotten alone, or with the lane', () => {
    memory.sumUpAgain([LEASE.signer, STRANGER]);
    expect([sumOf(), hasReserves(), memory.needsRecovery(LEASE)]).toEqual([null, false, false]);
    memory.reserved([holding()]);
    expect([sumOf(), sumOf(OTHER)]).toEqual([null, SUM]);
    memory.forget([OTHER.signer]);
    expect(hasReserves(OTHER)).toBe(false);
  });

  it('are not kept of a lane that has not begun, or that begins under another lease', () => {
    memory.forgetAll();
    memory.summedUp(LEASE.signer, LEASE.token, 'm1', SUM);
    expect(memory.needsRecovery(LEASE)).toBe(true);
    memory.summedUp(LEASE.signer, LEASE.token, 'm1', SUM);
    memory.recovered([LEASE]);
    memory.summedUp(LEASE.signer, 2n, 'm1', SUM);
    expect([sumOf(), sumOf({ ...LEASE, token: 2n })]).toEqual([null, null]);
  });
});

describe('a lane looks for gaps', () => {
  const mayHaveGaps = () => [LEASE, OTHER].map((lease) => memory.mayHaveGaps(lease));

  it('in its first step, as nobody knows what the last owner left, and again under another lease', () => {
    expect(mayHaveGaps()).toEqual([true, true]);
    memory.gapsChecked([LEASE]);
    expect(mayHaveGaps()).toEqual([false, true]);
    expect(memory.mayHaveGaps({ ...LEASE, token: 2n })).toBe(true);
  });

  it('no more when every gap got its fill, which is a tx like any other, however long that is in flight', () => {
    memory.gapsChecked([LEASE, OTHER]);
    clock.advance(3_600_000);
    expect(mayHaveGaps()).toEqual([false, false]);
  });

  it('at once when a slot was released', () => {
    memory.gapsChecked([LEASE, OTHER]);
    memory.gapOpened(LEASE.signer);
    memory.gapOpened(STRANGER);
    expect(mayHaveGaps()).toEqual([true, false]);
  });
});

it('a lane owes a step until it has recovered and has no gap', () => {
  memory.gapsChecked([LEASE]);
  expect(memory.needsStep(LEASE)).toBe(true);
  memory.recovered([LEASE]);
  expect(memory.needsStep(LEASE)).toBe(false);
  memory.gapOpened(LEASE.signer);
  expect(memory.needsStep(LEASE)).toBe(true);
});

describe('what a lane has in flight', () => {
  it('is unknown until it is counted, and grows with each nonce that is given', () => {
    expect(memory.inFlight(LEASE)).toBeNull();
    expect(memory.mayCountInFlight(LEASE)).toBe(true);
    memory.noncesAllocated([LEASE.signer, STRANGER]);
    expect(memory.inFlight(LEASE)).toBeNull();
    memory.countedInFlight(LEASE, 5);
    memory.noncesAllocated([LEASE.signer, LEASE.signer, OTHER.signer]);
    expect(memory.inFlight(LEASE)).toBe(7);
  });

  it('is counted again after a second', () => {
    memory.countedInFlight(LEASE, 5);
    clock.advance(999);
    expect(memory.mayCountInFlight(LEASE)).toBe(false);
    clock.advance(1);
    expect(memory.mayCountInFlight(LEASE)).toBe(true);
  });

  it('is counted again at once when something was mined', () => {
    memory.madeRoom([LEASE.signer, STRANGER]);
    memory.countedInFlight(LEASE, 5);
    memory.madeRoom([OTHER.signer]);
    expect(memory.mayCountInFlight(LEASE)).toBe(false);
    memory.madeRoom([LEASE.signer]);
    expect(memory.mayCountInFlight(LEASE)).toBe(true);
    expect(memory.inFlight(LEASE)).toBe(5);
  });
});

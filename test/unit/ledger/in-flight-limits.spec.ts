import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InFlightLimits } from '../../../src/modules/ledger/index.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [SIGNER, OTHER] = [aSigner(1), aSigner(2)];
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const [START, MAX, OF_CHAIN] = [8, 32, 40];

let clock: FakeClock;
let limits: InFlightLimits;
let block = 0;

beforeEach(() => {
  clock = new FakeClock();
  const config = { inFlightStart: START, maxInFlight: MAX, maxInFlightOfChain: OF_CHAIN };
  limits = inFlightLimits(config, clock);
});

/** A block that takes all that the signer may have in flight. */
function takesAll(signer = SIGNER): void {
  const count = limits.of(signer);
  limits.mined(signer, 0n, { block: (block += 1), count, inFlight: count });
}

describe('the limit of a signer', () => {
  it('begins at inFlightStart, and doubles with each block that takes all, up to maxInFlight', () => {
    const seen = [limits.ofLease(LEASE)];
    for (let round = 0; round < 4; round += 1) {
      takesAll();
      seen.push(limits.ofLease(LEASE));
    }
    expect(seen).toEqual([START, 2 * START, 4 * START, MAX, MAX]);
  });

  it('begins with what the profile of its chain says, and with 64 on others, but not above maxInFlight', () => {
    const [hedera, other] = [{ ...SIGNER, chainId: 295 }, SIGNER];
    const ofProfile = inFlightLimits();
    expect([ofProfile.of(hedera), ofProfile.of(other)]).toEqual([1, 64]);
    expect(inFlightLimits({ maxInFlight: 3 }).of(other)).toBe(3);
    ofProfile.mined(hedera, 0n, { block: 1, count: 1, inFlight: 1 });
    expect(ofProfile.of(hedera)).toBe(2);
  });

  it.each([
    ['halves when blocks leave what a pool had in time', MAX, 1_001, MAX / 2],
    ['halves with each of them where the head was asked for just before each', MAX / 2, 1, MAX / 4],
    ['does not halve when blocks take little because the rest was sent too late for them', MAX / 4, 1, MAX],
    [
      'does not halve when a busy node asks for the head so late that the rest may have come after the block',
      MAX / 2,
      1_001,
      MAX,
    ],
  ])('%s', (_what, sentInTime, lookedBeforeMs, limit) => {
    limits = inFlightLimits({ inFlightStart: START, maxInFlight: MAX }, clock, lookedBeforeMs);
    for (let round = 0; round < 2; round += 1) takesAll();
    const count = MAX / 4;
    for (let highest = count; highest <= 5 * count; highest += count) {
      clock.advance(1_000);
      limits.mined(SIGNER, BigInt(highest), { block: (block += 1), count, inFlight: MAX });
      limits.sent(SIGNER, BigInt(highest + sentInTime));
    }
    expect(limits.of(SIGNER)).toBe(limit);
  });

  it('is what the pool had when it refused, and at least one', () => {
    limits.refused(SIGNER, 4);
    expect(limits.ofLease(LEASE)).toBe(4);
    limits.refused(SIGNER, 0);
    expect(limits.ofLease(LEASE)).toBe(1);
  });

  it('is not changed by a pool that is full of others', () => {
    limits.refused(SIGNER, null);
    expect(limits.of(SIGNER)).toBe(START);
    limits.refused(SIGNER, 4);
    limits.refused(SIGNER, null);
    expect(limits.of(SIGNER)).toBe(4);
  });

  it('leaves room for a second one where a pool refuses the only one that may be in flight: it shows whether the pool is full', () => {
    limits.refused(SIGNER, 0);
    limits.refused(SIGNER, null);
    expect(limits.ofLease(LEASE)).toBe(2);
    limits.taken(SIGNER);
    expect(limits.ofLease(LEASE)).toBe(1);
    limits.refused(SIGNER, null);
    limits.seen(SIGNER, true);
    expect(limits.of(SIGNER)).toBe(1);
    limits.seen(SIGNER, false);
    limits.resending(LEASE, false);
    expect(limits.of(SIGNER)).toBe(1);
    const ofOne = inFlightLimits({ maxInFlight: 1 });
    ofOne.refused(SIGNER, null);
    expect(ofOne.of(SIGNER)).toBe(1);
  });

  it('is half when a pool had dropped some', () => {
    limits.dropped(SIGNER);
    expect(limits.of(SIGNER)).toBe(START / 2);
  });

  it('is forgotten with the lease, and counts for the lease under which it was learnt', () => {
    limits.refused(SIGNER, 4);
    expect(limits.ofLease(LEASE)).toBe(4);
    expect(limits.ofLease({ ...LEASE, token: 2n })).toBe(START);
    expect(limits.ofLease(LEASE)).toBe(START);
  });

  it('that grew begins anew after a minute without a block of its own; what was refused is remembered', () => {
    takesAll();
    limits.refused(OTHER, 4);
    clock.advance(60_001);
    expect([limits.ofLease(LEASE), limits.ofLease({ ...LEASE, signer: OTHER })]).toEqual([START, 4]);
  });
});

describe('signers of one chain', () => {
  it('share what the chain takes in equal parts, and none is kept below the start', () => {
    for (let round = 0; round < 3; round += 1) takesAll();
    expect(limits.of(SIGNER)).toBe(MAX);
    takesAll(OTHER);
    expect([limits.of(SIGNER), limits.of(OTHER)]).toEqual([OF_CHAIN / 2, 2 * START]);
    for (let at = 3; at < 10; at += 1) takesAll(aSigner(at));
    expect(limits.of(SIGNER)).toBe(OF_CHAIN / 4);
    expect(limits.of(aSigner(9))).toBe(START);
  });

  it('of other chains take nothing away', () => {
    takesAll();
    takesAll({ ...OTHER, chainId: SIGNER.chainId + 1 });
    for (let round = 0; round < 2; round += 1) takesAll();
    expect(limits.of(SIGNER)).toBe(MAX);
  });

  it('that are idle give their shares back', () => {
    takesAll(OTHER);
    clock.advance(60_001);
    for (let round = 0; round < 3; round += 1) takesAll();
    expect(limits.of(SIGNER)).toBe(MAX);
  });

  it('that lose what they had grown to give their shares back', () => {
    takesAll(OTHER);
    limits.refused(OTHER, 3);
    for (let round = 0; round < 3; round += 1) takesAll();
    expect(limits.of(SIGNER)).toBe(MAX);
  });
});

describe('what a pool refused', () => {
  it('is not sent again at once, but when txs of its signer were mined', () => {
    limits.refused(SIGNER, 4);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([OTHER]);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mayResend(LEASE)).toBe(true);
  });

  it('is sent again when the pool took another of the signer', () => {
    limits.refused(SIGNER, 4);
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([true, true]);
  });

  it('is sent again once for each time that there may be room', () => {
    limits.refused(SIGNER, 4);
    limits.madeRoom([SIGNER]);
    limits.resending(LEASE, true);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mayResend(LEASE)).toBe(true);
  });

  it('is not looked for when nothing waits', () => {
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([false, false]);
    limits.refused(SIGNER, 4);
    limits.resending(LEASE, false);
    limits.madeRoom([SIGNER]);
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([false, false]);
  });
});

describe('a signer whose account delegates', () => {
  const now = () => ({ isDelegated: limits.isDelegated(SIGNER), limit: limits.ofLease(LEASE) });

  it('has one tx in flight, however many are mined, until the delegation ends', () => {
    limits.refused(SIGNER, 4);
    limits.seen(SIGNER, true);
    expect(now()).toEqual({ isDelegated: true, limit: 1 });
    limits.madeRoom([SIGNER]);
    expect(now()).toEqual({ isDelegated: true, limit: 1 });
    limits.seen(SIGNER, false);
    expect(now()).toEqual({ isDelegated: false, limit: 4 });
  });

  it('is looked at again once the tx that may change it has left flight', () => {
    limits.delegates(SIGNER);
    limits.seen(SIGNER, false);
    expect(limits.mustLook(SIGNER)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mustLook(SIGNER)).toBe(true);
    limits.seen(SIGNER, true);
    expect(limits.mustLook(SIGNER)).toBe(false);
  });

  it('does not keep that limit for one that a pool full of others refused', () => {
    limits.seen(SIGNER, true);
    limits.refused(SIGNER, null);
    limits.seen(SIGNER, false);
    expect(limits.of(SIGNER)).toBe(START);
  });
});

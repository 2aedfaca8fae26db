import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuthorizationTurns } from '../../../src/modules/nonces/application/authorization-turns.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { type InFlightLimits, LaneMemory } from '../../../src/modules/ledger/index.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aGrant, AUTHORITY, LEASE, SENDER } from './grant-fixture.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

let clock: FakeClock;
let memory: LaneMemory;
let limits: InFlightLimits;
let rung: SignerId[];
let turns: AuthorizationTurns;

beforeEach(() => {
  clock = new FakeClock();
  memory = new LaneMemory(clock);
  memory.recovered([LEASE]);
  memory.aligned([LEASE]);
  [limits, rung] = [inFlightLimits(), []];
  turns = new AuthorizationTurns(memory, clock, limits, { ring: (signers) => void rung.push(...signers) });
});

describe('a wanted authorization', () => {
  it('holds the payloads of its authority back, until it is not wanted any more', () => {
    expect(turns.begin(DEV_CHAIN, [aGrant()])).toEqual([aGrant()]);
    expect(turns.isHeldBack(AUTHORITY)).toBe(true);
    clock.advance(5_000);
    turns.begin(DEV_CHAIN, []);
    expect(turns.isHeldBack(AUTHORITY)).toBe(false);
  });

  it('has its turn for two minutes, and a new one after a pause', () => {
    turns.begin(DEV_CHAIN, [aGrant()]);
    clock.advance(119_000);
    turns.begin(DEV_CHAIN, [aGrant()]);
    expect(turns.isOver(aGrant())).toBe(false);
    clock.advance(1_000);
    expect(turns.isOver(aGrant())).toBe(true);
    turns.begin(DEV_CHAIN, []);
    turns.begin(DEV_CHAIN, [aGrant()]);
    expect(turns.isOver(aGrant())).toBe(false);
  });

  it('keeps its turn, and has its authority held back, while other chains are looked at', () => {
    turns.begin(DEV_CHAIN, [aGrant()]);
    clock.advance(20_000);
    turns.begin(1, []);
    expect(turns.isHeldBack(AUTHORITY)).toBe(true);
    clock.advance(100_000);
    turns.begin(DEV_CHAIN, [aGrant()]);
    expect(turns.isOver(aGrant())).toBe(true);
  });

  it('holds nothing back for longer than half a minute when no look comes to an end', () => {
    turns.begin(DEV_CHAIN, [aGrant()]);
    clock.advance(20_000);
    turns.begin(DEV_CHAIN, [aGrant()]);
    clock.advance(29_999);
    expect(turns.isHeldBack(AUTHORITY)).toBe(true);
    clock.advance(1);
    expect(turns.isHeldBack(AUTHORITY)).toBe(false);
  });

  it('waits after another one until the payloads had their turn', () => {
    turns.begin(DEV_CHAIN, [aGrant()]);
    turns.ended(aGrant({ stage: 'ended' }));
    expect([turns.begin(DEV_CHAIN, [aGrant()]), turns.isHeldBack(AUTHORITY)]).toEqual([[], false]);
    clock.advance(3_000);
    expect([turns.begin(DEV_CHAIN, [aGrant()]), turns.isHeldBack(AUTHORITY)]).toEqual([[aGrant()], true]);
  });
});

describe('an authority that was held back in vain', () => {
  const overdue = aGrant({ stage: 'overdue', nonce: 3n });

  it.each([
    ['its authorization never got a nonce', () => turns.gaveUp(AUTHORITY)],
    ['its authorization was taken back', () => turns.ended(overdue)],
  ])('gives its payloads as long a turn, and three seconds after a short one, when %s', (_when, giveUp) => {
    for (const [heldMs, turnMs] of [
      [60_000, 60_000],
      [1_000, 3_000],
    ] as const) {
      turns.begin(DEV_CHAIN, [aGrant()]);
      clock.advance(heldMs);
      turns.begin(DEV_CHAIN, [overdue]);
      giveUp();
      clock.advance(turnMs - 1);
      expect([turns.begin(DEV_CHAIN, [aGrant()]), turns.isHeldBack(AUTHORITY)]).toEqual([[], false]);
      clock.advance(1);
      expect(turns.begin(DEV_CHAIN, [aGrant()])).toHaveLength(1);
      turns.begin(DEV_CHAIN, []);
    }
  });
});

describe('a signed authorization', () => {
  it('holds payloads back while its tx is not mined, and needs nothing', () => {
    expect(turns.begin(DEV_CHAIN, [aGrant({ stage: 'open', nonce: 3n })])).toEqual([]);
    expect(turns.isHeldBack(AUTHORITY)).toBe(true);
  });

  it('wakes the lane of its payload, and makes its own ask the database what is in flight', () => {
    memory.kindsSeen(AUTHORITY, null, false);
    turns.signed(aGrant());
    expect([memory.mayHaveKinds(AUTHORITY), rung]).toEqual([true, [SENDER]]);
  });

  it('lets payloads go when it is seen mined, once: with a look at the chain, and at the code of the account', () => {
    const mined = aGrant({ stage: 'mined', nonce: 3n });
    turns.begin(DEV_CHAIN, [aGrant()]);
    turns.wasMined(mined);
    turns.wasMined(mined);
    expect([turns.isHeldBack(AUTHORITY), memory.needsAlignment(LEASE, 60_000)]).toEqual([false, true]);
    expect([limits.mustLook(AUTHORITY), rung]).toEqual([true, [AUTHORITY]]);
    turns.begin(1, []);
    turns.begin(DEV_CHAIN, [mined]);
    turns.wasMined(mined);
    expect(rung).toHaveLength(1);
    turns.begin(DEV_CHAIN, []);
    turns.wasMined(mined);
    expect(rung).toHaveLength(2);
  });

  it.each(['overdue', 'ended'] as const)(
    'wakes its signer, whose code is read, when it is %s and has ended',
    (stage) => {
      turns.ended(aGrant({ stage, nonce: 3n }));
      expect([limits.mustLook(AUTHORITY), rung]).toEqual([true, [AUTHORITY]]);
    },
  );
});

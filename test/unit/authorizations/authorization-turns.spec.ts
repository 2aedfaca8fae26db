import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuthorizationTurns } from '../../../src/modules/authorizations/application/authorization-turns.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { type InFlightLimits, LaneMemory } from '../../../src/modules/ledger/index.js';
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
    expect(turns.begin([aGrant()])).toEqual([aGrant()]);
    expect(memory.isHeldBack(AUTHORITY)).toBe(true);
    clock.advance(5_000);
    turns.begin([]);
    expect(memory.isHeldBack(AUTHORITY)).toBe(false);
  });

  it('has its turn for two minutes, and a new one after a pause', () => {
    turns.begin([aGrant()]);
    clock.advance(119_000);
    turns.begin([aGrant()]);
    expect(turns.isOver(aGrant())).toBe(false);
    clock.advance(1_000);
    expect(turns.isOver(aGrant())).toBe(true);
    turns.begin([]);
    turns.begin([aGrant()]);
    expect(turns.isOver(aGrant())).toBe(false);
  });

  it('waits after another one until the payloads had their turn', () => {
    turns.begin([aGrant()]);
    turns.ended(aGrant({ stage: 'ended' }));
    expect([turns.begin([aGrant()]), memory.isHeldBack(AUTHORITY)]).toEqual([[], false]);
    clock.advance(3_000);
    expect([turns.begin([aGrant()]), memory.isHeldBack(AUTHORITY)]).toEqual([[aGrant()], true]);
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
      turns.begin([aGrant()]);
      clock.advance(heldMs);
      turns.begin([overdue]);
      giveUp();
      clock.advance(turnMs - 1);
      expect([turns.begin([aGrant()]), memory.isHeldBack(AUTHORITY)]).toEqual([[], false]);
      clock.advance(1);
      expect(turns.begin([aGrant()])).toHaveLength(1);
      turns.begin([]);
    }
  });
});

describe('a signed authorization', () => {
  it('holds payloads back while its tx is not mined, and needs nothing', () => {
    expect(turns.begin([aGrant({ stage: 'open', nonce: 3n })])).toEqual([]);
    expect(memory.isHeldBack(AUTHORITY)).toBe(true);
  });

  it('wakes the lane of its payload, and makes its own ask the database what is in flight', () => {
    memory.kindsSeen(AUTHORITY, null, false);
    turns.signed(aGrant());
    expect([memory.mayHaveKinds(AUTHORITY), rung]).toEqual([true, [SENDER]]);
  });

  it('lets payloads go when it is seen mined, once: with a look at the chain, and at the code of the account', () => {
    const mined = aGrant({ stage: 'mined', nonce: 3n });
    turns.begin([aGrant()]);
    turns.wasMined(mined);
    turns.wasMined(mined);
    expect([memory.isHeldBack(AUTHORITY), memory.needsAlignment(LEASE, 60_000)]).toEqual([false, true]);
    expect([limits.mustLook(AUTHORITY), rung]).toEqual([true, [AUTHORITY]]);
    turns.begin([mined]);
    turns.wasMined(mined);
    expect(rung).toHaveLength(1);
    turns.begin([]);
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

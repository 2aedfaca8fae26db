import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuthorizationTurns } from '../../../src/modules/authorizations/application/authorization-turns.js';
import { LaneMemory } from '../../../src/modules/transactions/index.js';
import { ShiftedClock } from '../chain/chain-fixture.js';
import { aGrant, AUTHORITY, LEASE } from './grant-fixture.js';

let clock: ShiftedClock;
let memory: LaneMemory;
let turns: AuthorizationTurns;

beforeEach(() => {
  clock = new ShiftedClock();
  memory = new LaneMemory(clock);
  memory.recovered([LEASE]);
  memory.aligned([LEASE]);
  turns = new AuthorizationTurns(memory, clock);
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
    turns.payloadsMayGo(AUTHORITY);
    expect([turns.begin([aGrant()]), memory.isHeldBack(AUTHORITY)]).toEqual([[], false]);
    clock.advance(3_000);
    expect([turns.begin([aGrant()]), memory.isHeldBack(AUTHORITY)]).toEqual([[aGrant()], true]);
  });
});

describe('a signed authorization', () => {
  it('holds payloads back while its tx is not mined, and needs nothing', () => {
    expect(turns.begin([aGrant({ stage: 'open', nonce: 3n })])).toEqual([]);
    expect(memory.isHeldBack(AUTHORITY)).toBe(true);
  });

  it('makes the lane ask the database what is in flight', () => {
    memory.kindsSeen(AUTHORITY, null, false);
    turns.signed(AUTHORITY);
    expect(memory.mayHaveKinds(AUTHORITY)).toBe(true);
  });

  it('is seen mined for the first time once, and lets payloads go, with a look at the chain', () => {
    const mined = aGrant({ stage: 'mined', nonce: 3n });
    turns.begin([aGrant()]);
    expect([turns.isFirstMined(mined), turns.isFirstMined(mined)]).toEqual([true, false]);
    expect([memory.isHeldBack(AUTHORITY), memory.needsAlignment(LEASE, 60_000)]).toEqual([false, true]);
    turns.begin([mined]);
    expect(turns.isFirstMined(mined)).toBe(false);
    turns.begin([]);
    expect(turns.isFirstMined(mined)).toBe(true);
  });
});

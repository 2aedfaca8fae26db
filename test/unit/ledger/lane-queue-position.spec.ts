import { beforeEach, describe, expect, it } from '@jest/globals';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { olderBy } from '../../../src/modules/ledger/domain/tx-queue.js';

const LEASE = { signer: aSigner(), owner: 'me', token: 1n };
const LAST = { priority: 5, txId: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b' };
const TEN_SECONDS_OLDER = { priority: 5, txId: '019aa2f4-530c-0000-0000-000000000000' };

let clock: FakeClock;
let memory: LaneMemory;

beforeEach(() => {
  clock = new FakeClock();
  memory = new LaneMemory(clock);
});

describe('a lane reads its queue', () => {
  it('from the start as long as that is cheap', () => {
    memory.queueRead(LEASE, null, 0.2, LAST);
    clock.advance(20);
    expect(memory.queueStart(LEASE)).toBeNull();
  });

  it('from ten seconds before where it was for a hundred times as long as the start took, and no longer than half a minute', () => {
    memory.queueRead(LEASE, null, 100, LAST);
    clock.advance(9_999);
    expect(memory.queueStart(LEASE)).toEqual(TEN_SECONDS_OLDER);
    memory.queueRead(LEASE, TEN_SECONDS_OLDER, 1, null);
    expect(memory.queueStart(LEASE)).toEqual(TEN_SECONDS_OLDER);
    clock.advance(1);
    expect(memory.queueStart(LEASE)).toBeNull();
    memory.queueRead(LEASE, null, 4_000, LAST);
    clock.advance(30_000);
    expect(memory.queueStart(LEASE)).toBeNull();
  });

  it('from the start after a failure, with another lease, and when a tx may wait again', () => {
    for (const upset of [() => memory.forget([LEASE.signer]), () => memory.distrustNonce(LEASE.signer)]) {
      memory.queueRead(LEASE, null, 100, LAST);
      upset();
      expect(memory.queueStart(LEASE)).toBeNull();
    }
    memory.queueRead(LEASE, null, 100, LAST);
    expect(memory.queueStart({ ...LEASE, token: 2n })).toBeNull();
  });
});

it('a position is older by the time that its id begins with', () => {
  expect(olderBy(10_000, LAST)).toEqual(TEN_SECONDS_OLDER);
  expect(olderBy(10_000, { priority: 0, txId: '00000000-0001-7000-8000-000000000001' }).txId).toBe(
    '00000000-0000-0000-0000-000000000000',
  );
});

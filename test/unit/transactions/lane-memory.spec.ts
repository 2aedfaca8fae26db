import { beforeEach, describe, expect, it } from '@jest/globals';
import { LaneMemory } from '../../../src/modules/transactions/application/lane-memory.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const LEASE = { signer: aSigner(), owner: 'me', token: 1n };
const OTHER = { signer: aSigner(2), owner: 'me', token: 1n };
const MAX_AGE = 30_000;

let clock: FakeClock;
let memory: LaneMemory;

beforeEach(() => {
  clock = new FakeClock();
  memory = new LaneMemory(clock);
});

describe('a lane that knows nothing', () => {
  it.each<[string, () => void]>([
    ['at first', () => (memory = new LaneMemory(clock))],
    ['when it was forgotten', () => memory.forget([LEASE.signer])],
    ['when everything was forgotten', () => memory.forgetAll()],
  ])('has to recover, to ask for the nonce and to look for holes %s', (_when, happens) => {
    knowAll();
    happens();
    expect(knownOf(LEASE)).toEqual({ recovery: true, alignment: true, holes: true, inFlight: null });
  });

  it('is also that of another token: somebody else may have acted in between', () => {
    knowAll();
    expect(knownOf(LEASE)).toEqual({ recovery: false, alignment: false, holes: false, inFlight: 5 });
    expect(knownOf({ ...LEASE, token: 2n })).toEqual({ recovery: true, alignment: true, holes: true, inFlight: null });
  });

  function knowAll(): void {
    memory.recovered([LEASE]);
    memory.aligned([LEASE]);
    memory.holesTended([LEASE], new Set());
    memory.countedInFlight(LEASE, 5);
  }

  function knownOf(lease: typeof LEASE): object {
    return {
      recovery: memory.needsRecovery(lease),
      alignment: memory.needsAlignment(lease, MAX_AGE),
      holes: memory.mayHaveHoles(lease),
      inFlight: memory.inFlight(lease),
    };
  }
});

describe('the nonce of the chain', () => {
  it('is asked for again when it is older than nonceStateTimeout', () => {
    memory.aligned([LEASE]);
    clock.advance(MAX_AGE);
    expect(memory.needsAlignment(LEASE, MAX_AGE)).toBe(false);
    clock.advance(1);
    expect(memory.needsAlignment(LEASE, MAX_AGE)).toBe(true);
  });

  it('is asked for again at once when it is distrusted', () => {
    memory.aligned([LEASE, OTHER]);
    memory.distrustNonce(LEASE.signer);
    expect([LEASE, OTHER].map((lease) => memory.needsAlignment(lease, MAX_AGE))).toEqual([true, false]);
  });
});

describe('holes', () => {
  it('that are open are looked after again in a second, and no sooner', () => {
    memory.recovered([LEASE]);
    memory.holesTended([LEASE], new Set([signerKey(LEASE.signer)]));
    clock.advance(999);
    expect([memory.mayHaveHoles(LEASE), memory.owesStep(LEASE)]).toEqual([false, false]);
    clock.advance(1);
    expect([memory.mayHaveHoles(LEASE), memory.owesStep(LEASE)]).toEqual([true, true]);
  });

  it('are not looked for where there are none, until one opens', () => {
    memory.holesTended([LEASE, OTHER], new Set([signerKey(OTHER.signer)]));
    clock.advance(3_600_000);
    expect([LEASE, OTHER].map((lease) => memory.mayHaveHoles(lease))).toEqual([false, true]);
    memory.holeOpened(LEASE.signer);
    expect(memory.mayHaveHoles(LEASE)).toBe(true);
  });
});

describe('what is in flight', () => {
  it('grows by each nonce that is taken', () => {
    memory.countedInFlight(LEASE, 5);
    memory.tookNonces([LEASE.signer, LEASE.signer, OTHER.signer]);
    expect([memory.inFlight(LEASE), memory.inFlight(OTHER)]).toEqual([7, null]);
  });

  it('is counted at first, and then once a second at most', () => {
    expect(memory.mayCountInFlight(LEASE)).toBe(true);
    memory.countedInFlight(LEASE, 5);
    clock.advance(999);
    expect(memory.mayCountInFlight(LEASE)).toBe(false);
    clock.advance(1);
    expect(memory.mayCountInFlight(LEASE)).toBe(true);
  });

  it('may be counted at once when something was mined', () => {
    memory.countedInFlight(LEASE, 5);
    clock.advance(1);
    memory.madeRoom([LEASE.signer]);
    expect([memory.mayCountInFlight(LEASE), memory.inFlight(LEASE)]).toEqual([true, 5]);
  });
});

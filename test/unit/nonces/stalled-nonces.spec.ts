import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import { StalledNonces } from '../../../src/modules/nonces/application/stalled-nonces.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const INTERVAL = 60_000;

let clock: FakeClock;
let stalled: StalledNonces;

beforeEach(() => {
  clock = new FakeClock();
  stalled = new StalledNonces(Object.assign(new ResubmitConfig(), { interval: INTERVAL }), clock);
});

/** @returns whether the nonce stands still, as an observation so much later says */
function observed(afterMs: number, nonce = 5n, signer = aSigner()): boolean {
  clock.advance(afterMs);
  return stalled.observe({ signer, nonce });
}

describe('the chain’s next nonce stands still', () => {
  it('when it was the same an interval ago, and not a millisecond sooner', () => {
    expect([observed(0), observed(INTERVAL - 1), observed(1), observed(1)]).toEqual([false, false, true, true]);
  });

  it('from its last move on', () => {
    observed(0);
    expect([observed(INTERVAL, 6n), observed(INTERVAL - 1, 6n), observed(1, 6n)]).toEqual([false, false, true]);
  });

  it('also when it moved back: a reorg freed nonces', () => {
    observed(0);
    expect([observed(INTERVAL, 4n), observed(INTERVAL, 4n)]).toEqual([false, true]);
  });

  it('only when nobody stopped looking for longer than three intervals', () => {
    observed(0);
    expect(observed(3 * INTERVAL)).toBe(true);
    expect([observed(3 * INTERVAL + 1), observed(INTERVAL)]).toEqual([false, true]);
  });

  it('for each signer by itself', () => {
    observed(0);
    expect([observed(INTERVAL, 5n, aSigner(2)), observed(0)]).toEqual([false, true]);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/application/second-observations.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const at = (number: number) => ({ number, hash: aHash(number) });

let clock: FakeClock;
let observations: SecondObservations;

beforeEach(() => {
  clock = new FakeClock();
  observations = new SecondObservations(clock);
});

describe('SecondObservations.agree', () => {
  it('is true when the second observation is at a later block and equal', () => {
    expect(observations.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    expect(observations.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    expect(observations.agree('move_payload', 'slot', 'gone', at(8))).toBe(true);
  });

  it('is true after half a minute on a chain that makes no blocks', () => {
    observations.agree('move_payload', 'slot', 'gone', at(7));
    clock.advance(29_999);
    expect(observations.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    clock.advance(1);
    expect(observations.agree('move_payload', 'slot', 'gone', at(7))).toBe(true);
  });

  it('takes a different second observation as the new first one', () => {
    observations.agree('move_payload', 'slot', 'gone', at(7));
    clock.advance(30_000);
    expect(observations.agree('move_payload', 'slot', 'free', at(8))).toBe(false);
    expect(observations.agree('move_payload', 'slot', 'free', at(8))).toBe(false);
    expect(observations.agree('move_payload', 'slot', 'free', at(9))).toBe(true);
  });

  it('keeps the keys apart', () => {
    observations.agree('move_payload', 'slot', 'gone', at(7));
    expect(observations.agree('move_payload', 'another slot', 'gone', at(8))).toBe(false);
  });

  it('needs a first observation again after forget, and after a hundred thousand newer ones', () => {
    observations.agree('move_payload', 'slot', 'gone', at(7));
    observations.forget('slot');
    expect(observations.agree('move_payload', 'slot', 'gone', at(8))).toBe(false);
    for (let n = 1; n < 100_000; n += 1) observations.agree('move_payload', `slot ${n}`, 'gone', at(7));
    expect(observations.agree('move_payload', 'slot', 'gone', at(9))).toBe(true);
    observations.agree('move_payload', 'one more', 'gone', at(7));
    expect(observations.agree('move_payload', 'slot', 'gone', at(9))).toBe(false);
  });
});

describe('SecondObservations.lower', () => {
  it('answers the lower of two numbers, and then needs two new observations', () => {
    expect(observations.lower('raise_cursor', 'signer', 5n, at(7))).toBeNull();
    expect(observations.lower('raise_cursor', 'signer', 9n, at(8))).toBe(5n);
    expect(observations.lower('raise_cursor', 'signer', 9n, at(9))).toBeNull();
    expect(observations.lower('raise_cursor', 'signer', 6n, at(10))).toBe(6n);
  });

  it('answers nothing before the second observation is at a later block', () => {
    observations.lower('raise_cursor', 'signer', 5n, at(7));
    expect(observations.lower('raise_cursor', 'signer', 5n, at(7))).toBeNull();
  });
});

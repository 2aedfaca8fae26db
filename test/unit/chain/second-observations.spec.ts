import { beforeEach, describe, expect, it } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/application/second-observations.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const at = (number: number) => ({ number, hash: aHash(number) });

let clock: FakeClock;
let looks: SecondObservations;

beforeEach(() => {
  clock = new FakeClock();
  looks = new SecondObservations(clock);
});

describe('two looks agree', () => {
  it('when the second is at a later block and says the same', () => {
    expect(looks.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    expect(looks.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    expect(looks.agree('move_payload', 'slot', 'gone', at(8))).toBe(true);
  });

  it('after half a minute on a chain that makes no blocks', () => {
    looks.agree('move_payload', 'slot', 'gone', at(7));
    clock.advance(29_999);
    expect(looks.agree('move_payload', 'slot', 'gone', at(7))).toBe(false);
    clock.advance(1);
    expect(looks.agree('move_payload', 'slot', 'gone', at(7))).toBe(true);
  });

  it('no more when the second says something else: it is a first look itself', () => {
    looks.agree('move_payload', 'slot', 'gone', at(7));
    clock.advance(30_000);
    expect(looks.agree('move_payload', 'slot', 'free', at(8))).toBe(false);
    expect(looks.agree('move_payload', 'slot', 'free', at(8))).toBe(false);
    expect(looks.agree('move_payload', 'slot', 'free', at(9))).toBe(true);
  });

  it('for one thing at a time', () => {
    looks.agree('move_payload', 'slot', 'gone', at(7));
    expect(looks.agree('move_payload', 'another slot', 'gone', at(8))).toBe(false);
  });

  it('no more when the first was forgotten, on purpose or as the oldest of a hundred thousand', () => {
    looks.agree('move_payload', 'slot', 'gone', at(7));
    looks.forget('slot');
    expect(looks.agree('move_payload', 'slot', 'gone', at(8))).toBe(false);
    for (let n = 1; n < 100_000; n += 1) looks.agree('move_payload', `slot ${n}`, 'gone', at(7));
    expect(looks.agree('move_payload', 'slot', 'gone', at(9))).toBe(true);
    looks.agree('move_payload', 'one more', 'gone', at(7));
    expect(looks.agree('move_payload', 'slot', 'gone', at(9))).toBe(false);
  });
});

describe('of a number that only grows', () => {
  it('the lower one of two looks counts, and both are used up by that', () => {
    expect(looks.lower('raise_cursor', 'signer', 5n, at(7))).toBeNull();
    expect(looks.lower('raise_cursor', 'signer', 9n, at(8))).toBe(5n);
    expect(looks.lower('raise_cursor', 'signer', 9n, at(9))).toBeNull();
    expect(looks.lower('raise_cursor', 'signer', 6n, at(10))).toBe(6n);
  });

  it('nothing counts before the second look is at a later block', () => {
    looks.lower('raise_cursor', 'signer', 5n, at(7));
    expect(looks.lower('raise_cursor', 'signer', 5n, at(7))).toBeNull();
  });
});

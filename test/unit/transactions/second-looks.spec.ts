import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BlockRef } from '../../../src/modules/chain/index.js';
import { SecondLooks } from '../../../src/modules/transactions/application/second-looks.js';
import { aHash } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const WITHOUT_BLOCKS_MS = 30_000;
const MOST = 100_000;

let clock: FakeClock;
let looks: SecondLooks;

beforeEach(() => {
  clock = new FakeClock();
  looks = new SecondLooks(clock);
});

function block(number: number): BlockRef {
  return { number, hash: aHash(number) };
}

function agree(said: string, at: number, key = 'key'): boolean {
  return looks.agree('fail_payload', key, said, block(at));
}

describe('two looks', () => {
  it('agree when the second, at a later block, says the same', () => {
    expect([agree('no', 10), agree('no', 11)]).toEqual([false, true]);
  });

  it('at one block are one look, and so is one at an earlier block', () => {
    expect([agree('no', 10), agree('no', 10), agree('no', 9)]).toEqual([false, false, false]);
  });

  it('that say different things are two first looks', () => {
    expect([agree('no', 10), agree('never', 11), agree('never', 12)]).toEqual([false, false, true]);
  });

  it('on a chain that makes no blocks are half a minute apart', () => {
    agree('no', 10);
    clock.advance(WITHOUT_BLOCKS_MS - 1);
    expect(agree('no', 10)).toBe(false);
    clock.advance(1);
    expect(agree('no', 10)).toBe(true);
  });

  it('begin anew when the first is forgotten', () => {
    agree('no', 10);
    looks.forget('key');
    expect(agree('no', 11)).toBe(false);
  });

  it('are remembered for so many keys; the oldest is forgotten first', () => {
    for (let n = 0; n < MOST; n += 1) agree('no', 10, `key ${n}`);
    expect(agree('no', 11, 'key 0')).toBe(true);
    agree('no', 10, 'one more');
    expect([agree('no', 11, 'key 1'), agree('no', 11, 'key 0')]).toEqual([true, false]);
  });
});

describe('two looks at a number that grows', () => {
  const lower = (value: bigint, at: number): bigint | null => looks.lower('raise_cursor', 'key', value, block(at));

  it('prove the lower one, whichever look told it', () => {
    expect([lower(7n, 10), lower(9n, 11)]).toEqual([null, 7n]);
    expect([lower(9n, 12), lower(7n, 13)]).toEqual([null, 7n]);
  });

  it('prove nothing at one block', () => {
    expect([lower(7n, 10), lower(7n, 10)]).toEqual([null, null]);
  });
});

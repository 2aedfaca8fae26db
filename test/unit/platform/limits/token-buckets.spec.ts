import { beforeEach, describe, expect, it } from '@jest/globals';
import { TokenBuckets } from '../../../../src/platform/limits/token-buckets.js';

const RATE = { perSecond: 10, most: 50 };
let buckets: TokenBuckets;
beforeEach(() => {
  buckets = new TokenBuckets(4);
});

describe('a bucket', () => {
  it('is full at first, is filled as time passes, and never holds more than its most', () => {
    buckets.take('a', 30, RATE, 0);
    expect(buckets.tokens('a', RATE, 0)).toBe(20);
    expect(buckets.tokens('a', RATE, 1_500)).toBe(35);
    expect(buckets.tokens('a', RATE, 60_000)).toBe(50);
    expect(buckets.tokens('b', RATE, 0)).toBe(50);
  });

  it('owes what was taken beyond it, and says when that is paid', () => {
    expect(buckets.secondsUntilOne('a', RATE, 0)).toBe(0);
    expect(buckets.take('a', 150, RATE, 0)).toBe(-100);
    expect(buckets.tokens('a', RATE, 0)).toBe(-100);
    expect(buckets.secondsUntilOne('a', RATE, 0)).toBe(10.1);
    expect(buckets.secondsUntilOne('a', RATE, 10_100)).toBe(0);
    expect(buckets.tokens('a', RATE, 10_100)).toBe(1);
  });

  it('follows a rate that changes', () => {
    buckets.take('a', 50, RATE, 0);
    expect(buckets.tokens('a', { perSecond: 5, most: 25 }, 2_000)).toBe(10);
    expect(buckets.tokens('a', { perSecond: 5, most: 25 }, 20_000)).toBe(25);
  });
});

describe('buckets', () => {
  it('are forgotten when they are full and room is needed: those that are owed to stay', () => {
    for (const actor of ['a', 'b', 'c']) buckets.take(actor, 1, RATE, 0);
    buckets.take('d', 100, RATE, 0);
    buckets.take('e', 1, RATE, 1_000);
    expect(buckets.size).toBe(2);
    expect(buckets.tokens('d', RATE, 1_000)).toBe(-40);
  });

  it('that owe stay when all that came later are full: who takes one each from many pays for nobody', () => {
    buckets.take('a', 1_000, RATE, 0);
    for (const actor of ['b', 'c', 'd']) buckets.take(actor, 1, RATE, 0);
    buckets.take('e', 1, RATE, 1_000);
    expect(buckets.tokens('a', RATE, 1_000)).toBe(-940);
    expect(buckets.size).toBe(2);
  });

  it('are never more than their bound, whoever comes', () => {
    for (let actor = 0; actor < 1_000; actor += 1) {
      buckets.take(`actor ${actor}`, 100, RATE, 0);
      expect(buckets.size).toBeLessThanOrEqual(4);
    }
    expect(buckets.tokens('actor 999', RATE, 0)).toBe(-50);
  });
});

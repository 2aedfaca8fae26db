import { describe, expect, it } from '@jest/globals';
import { backoffMs, chanceOf, jittered, triedForMs } from '../../../src/kernel/backoff.js';

describe('the pause before the next try', () => {
  it('is the first one after the first try, doubles with each, and is a minute at most', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 1_000].map((tries) => backoffMs(2_000, tries))).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('is never shorter than the first one, also when that is longer than a minute', () => {
    expect([0, 5].map((tries) => backoffMs(90_000, tries))).toEqual([90_000, 90_000]);
  });
});

describe('a pause with jitter', () => {
  it('is between three quarters and all of the pause', () => {
    expect([0, 0.5, 1].map((chance) => jittered(1_000, chance))).toEqual([750, 875, 1_000]);
  });
});

it('the chance of an id is between 0 and 1, the same each time, and another one for most other ids', () => {
  const chances = Array.from({ length: 100 }, (_, n) => chanceOf(`tx-${n}`));
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true);
  expect(chanceOf('tx-7')).toBe(chances[7]);
  expect(new Set(chances.map((chance) => Math.floor(chance * 10))).size).toBe(10);
});

describe('the time for which something was tried', () => {
  it('is the sum of the pauses after each try', () => {
    expect([0, 1, 2, 3, 7].map((tries) => triedForMs(2_000, tries))).toEqual([0, 2_000, 6_000, 14_000, 182_000]);
  });
});

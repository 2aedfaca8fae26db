import { describe, expect, it } from '@jest/globals';
import { backoffMs, triedForMs } from '../../../src/kernel/backoff.js';

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

describe('the time for which something was tried', () => {
  it('is the sum of the pauses after each try', () => {
    expect([0, 1, 2, 3, 7].map((tries) => triedForMs(2_000, tries))).toEqual([0, 2_000, 6_000, 14_000, 182_000]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { standings, type ToldHead } from '../../../src/modules/chain/domain/head-quorum.js';

const MAX_LAG = 5;
const MAD = 0xffffff;

const told = (number: number, rest: Partial<ToldHead> = {}): ToldHead => ({ number, at: 0, believed: null, ...rest });
const lags = (...heads: ToldHead[]) => standings(heads, MAX_LAG).map(({ lag }) => lag);
const ahead = (...heads: ToldHead[]) => standings(heads, MAX_LAG).map(({ isAhead }) => isAhead);

describe('the best head of several endpoints', () => {
  it('is what at least half of them have reached, and at least two', () => {
    expect(lags(told(100), told(100), told(MAD))).toEqual([0, 0, 100 - MAD]);
    expect(ahead(told(100), told(100), told(MAD))).toEqual([false, false, true]);
    expect(lags(told(100), told(103), told(90))).toEqual([0, -3, 10]);
    expect(lags(told(100), told(100), told(90), told(90), told(MAD))).toEqual([0, 0, 10, 10, 100 - MAD]);
  });

  it('is not what two of five tell when the three others have not reached it', () => {
    expect(ahead(told(MAD), told(MAD), told(100), told(100), told(100))).toEqual([true, true, false, false, false]);
  });

  it('is not captured by an endpoint a few blocks ahead of two that agree', () => {
    expect(ahead(told(100), told(100), told(106))).toEqual([false, false, true]);
    expect(ahead(told(100), told(100), told(105))).toEqual([false, false, false]);
  });

  it('may have moved on while the others were asked', () => {
    expect(ahead(told(100), told(100), told(110, { at: 1_000 }))).toEqual([false, false, false]);
    expect(ahead(told(100), told(100), told(130, { at: 1_000 }))).toEqual([false, false, true]);
    const atOnce = { at: 1_000 };
    expect(ahead(told(100, atOnce), told(100, atOnce), told(120, atOnce))).toEqual([false, false, true]);
  });

  describe('of two', () => {
    it('is the higher one, for the other may stand still', () => {
      expect(lags(told(100), told(106))).toEqual([6, 0]);
      expect(ahead(told(100), told(5_000))).toEqual([false, false]);
    });

    it('is the lower one when the difference is more than a chain can make', () => {
      expect(lags(told(100), told(MAD))).toEqual([0, 100 - MAD]);
      expect(ahead(told(100), told(MAD))).toEqual([false, true]);
      expect(ahead(told(100), told(36_100))).toEqual([false, false]);
      expect(ahead(told(100), told(36_101))).toEqual([false, true]);
    });

    it('does not leap: a head that grew faster than a chain can is believed when there was time for it', () => {
      const believed = { number: 100, at: 0 };
      const leapt = (at: number) => ahead(told(101, { at }), told(1_100, { at, believed }));
      expect(leapt(1_000)).toEqual([false, true]);
      expect(leapt(100_000)).toEqual([false, false]);
    });

    it('may be ahead by what may have come since the other was asked', () => {
      const believed = { number: 0, at: 1_000 };
      expect(ahead(told(100), told(115, { at: 1_000, believed }))).toEqual([false, false]);
      expect(ahead(told(100), told(116, { at: 1_000, believed }))).toEqual([false, true]);
    });

    it('may catch up with the other at once', () => {
      const believed = { number: 100, at: 0 };
      expect(ahead(told(9_000), told(9_003, { believed }))).toEqual([false, false]);
    });
  });

  it('of one is its own', () => expect(standings([told(MAD)], MAX_LAG)).toEqual([{ lag: 0, isAhead: false }]));
});

import { describe, expect, it } from '@jest/globals';
import { headPositions, type ReportedHead } from '../../../src/modules/chain/domain/head-quorum.js';

const MAX_LAG = 5;
const MAD = 0xffffff;

const head = (number: number, rest: Partial<ReportedHead> = {}): ReportedHead => ({
  number,
  at: 0,
  accepted: null,
  ...rest,
});
const lags = (...heads: ReportedHead[]) => headPositions(heads, MAX_LAG).map(({ lag }) => lag);
const ahead = (...heads: ReportedHead[]) => headPositions(heads, MAX_LAG).map(({ isAhead }) => isAhead);

describe('the best head of several endpoints', () => {
  it('is what at least half of them have reached, and at least two', () => {
    expect(lags(head(100), head(100), head(MAD))).toEqual([0, 0, 100 - MAD]);
    expect(ahead(head(100), head(100), head(MAD))).toEqual([false, false, true]);
    expect(lags(head(100), head(103), head(90))).toEqual([0, -3, 10]);
    expect(lags(head(100), head(100), head(90), head(90), head(MAD))).toEqual([0, 0, 10, 10, 100 - MAD]);
  });

  it('is not what two of five report when the three others have not reached it', () => {
    expect(ahead(head(MAD), head(MAD), head(100), head(100), head(100))).toEqual([true, true, false, false, false]);
  });

  it('is not captured by an endpoint a few blocks ahead of two that agree', () => {
    expect(ahead(head(100), head(100), head(106))).toEqual([false, false, true]);
    expect(ahead(head(100), head(100), head(105))).toEqual([false, false, false]);
  });

  it('may have moved on while the others were asked', () => {
    expect(ahead(head(100), head(100), head(110, { at: 1_000 }))).toEqual([false, false, false]);
    expect(ahead(head(100), head(100), head(130, { at: 1_000 }))).toEqual([false, false, true]);
    const atOnce = { at: 1_000 };
    expect(ahead(head(100, atOnce), head(100, atOnce), head(120, atOnce))).toEqual([false, false, true]);
  });

  describe('of two', () => {
    it('is the higher one, because the other may be stuck', () => {
      expect(lags(head(100), head(106))).toEqual([6, 0]);
      expect(ahead(head(100), head(5_000))).toEqual([false, false]);
    });

    it('is the lower one when the difference is more than a chain can make', () => {
      expect(lags(head(100), head(MAD))).toEqual([0, 100 - MAD]);
      expect(ahead(head(100), head(MAD))).toEqual([false, true]);
      expect(ahead(head(100), head(36_100))).toEqual([false, false]);
      expect(ahead(head(100), head(36_101))).toEqual([false, true]);
    });

    it('does not jump: a head that grew faster than a chain can is accepted when there was time for it', () => {
      const accepted = { number: 100, at: 0 };
      const jumped = (at: number) => ahead(head(101, { at }), head(1_100, { at, accepted }));
      expect(jumped(1_000)).toEqual([false, true]);
      expect(jumped(100_000)).toEqual([false, false]);
    });

    it('may be ahead by what may have come since the other was asked', () => {
      const accepted = { number: 0, at: 1_000 };
      expect(ahead(head(100), head(115, { at: 1_000, accepted }))).toEqual([false, false]);
      expect(ahead(head(100), head(116, { at: 1_000, accepted }))).toEqual([false, true]);
    });

    it('may catch up with the other at once', () => {
      const accepted = { number: 100, at: 0 };
      expect(ahead(head(9_000), head(9_003, { accepted }))).toEqual([false, false]);
    });
  });

  it('of one is its own', () => expect(headPositions([head(MAD)], MAX_LAG)).toEqual([{ lag: 0, isAhead: false }]));
});

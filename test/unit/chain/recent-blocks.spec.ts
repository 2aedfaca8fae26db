import { beforeEach, describe, expect, it } from '@jest/globals';
import { RecentBlocks } from '../../../src/modules/chain/domain/recent-blocks.js';
import { aHash } from '../../support/builders.js';

/** Block `number`, on top of the one below it. */
const link = (number: number) => ({ number, hash: aHash(number), parentHash: aHash(number - 1) });
const numbered = (...numbers: number[]) => numbers.map((number) => ({ number, hash: aHash(number) }));

let window: RecentBlocks;

beforeEach(() => {
  window = new RecentBlocks(3);
});

describe('the window on the chain', () => {
  it('is empty at first, and no block extends it', () => {
    expect(window.tip).toBeNull();
    expect(window.isExtendedBy(link(1))).toBe(false);
    expect(window.hashAt(1)).toBeNull();
  });

  it('keeps the last blocks, as many as it has room for', () => {
    window.reset([5, 6, 7].map(link));
    expect([window.bottom, window.tip]).toEqual([5, 7]);
    window.push(link(8));
    window.push(link(9));
    expect([window.bottom, window.tip]).toEqual([7, 9]);
    expect([6, 7, 8, 9].map((number) => window.hashAt(number))).toEqual([null, aHash(7), aHash(8), aHash(9)]);
  });

  it('is extended by a block above its tip that names the tip as its parent: heights between them have no block', () => {
    window.reset([link(5)]);
    expect(window.isExtendedBy(link(6))).toBe(true);
    expect(window.isExtendedBy({ ...link(6), parentHash: aHash(99) })).toBe(false);
    expect(window.isExtendedBy({ ...link(7), parentHash: aHash(5) })).toBe(true);
    expect(window.isExtendedBy(link(7))).toBe(false);
    expect(window.isExtendedBy({ ...link(1), parentHash: aHash(5) })).toBe(false);
  });

  it('takes back what is above a block, lowest first', () => {
    window.reset([5, 6, 7].map(link));
    expect(window.rewindTo(5)).toEqual(numbered(6, 7));
    expect([window.bottom, window.tip]).toEqual([5, 5]);
    window.push(link(6));
    expect(window.rewindTo(5)).toEqual(numbered(6));
  });

  it('takes back nothing above its tip, and keeps its tip', () => {
    window.reset([5, 6].map(link));
    expect(window.rewindTo(9)).toEqual([]);
    expect(window.tip).toBe(6);
  });

  it('is empty when all of it is taken back, and begins anew with the next block', () => {
    window.reset([5, 6].map(link));
    window.rewindTo(4);
    expect(window.tip).toBeNull();
    window.push(link(2));
    expect([window.bottom, window.tip]).toEqual([2, 2]);
  });

  it('has forgotten all blocks after a reset', () => {
    window.reset([5, 6].map(link));
    window.reset([link(20)]);
    expect([window.bottom, window.tip, window.hashAt(5)]).toEqual([20, 20, null]);
  });

  it('is not changed through a copy', () => {
    window.reset([5, 6].map(link));
    const copy = window.copy();
    expect([copy.bottom, copy.tip, copy.hashAt(5)]).toEqual([5, 6, aHash(5)]);
    copy.rewindTo(5);
    copy.push({ ...link(6), hash: aHash(66) });
    expect(window.hashAt(6)).toBe(aHash(6));
    for (const number of [7, 8]) copy.push(link(number));
    expect([copy.bottom, window.bottom]).toEqual([6, 5]);
  });
});

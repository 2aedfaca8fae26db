import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { Receipt } from '../../../src/modules/chain/index.js';
import { ProvenReceipts } from '../../../src/modules/chain/application/proven-receipts.js';
import { aHash, aReceipt } from '../../support/builders.js';

const [FIRST, SECOND, THIRD] = [aHash(0xb1), aHash(0xb2), aHash(0xb3)];

/** As many receipts as wanted, by hash. */
const some = (count: number): ReadonlyMap<Hash, Receipt> =>
  new Map(Array.from({ length: count }, (_, i) => [aHash(i), aReceipt({ txHash: aHash(i) })]));

describe('ProvenReceipts', () => {
  let proven: ProvenReceipts;
  const sizes = (): number[] => [FIRST, SECOND, THIRD].map((block) => proven.in(block).size);

  beforeEach(() => {
    proven = new ProvenReceipts(10);
  });

  it('keeps receipts by block up to a total number, and drops the oldest blocks first', () => {
    proven.add(FIRST, some(4));
    proven.add(SECOND, some(6));
    expect(sizes()).toEqual([4, 6, 0]);
    proven.add(THIRD, some(1));
    expect(sizes()).toEqual([0, 6, 1]);
  });

  it('replaces the receipts of a block that is added again', () => {
    proven.add(FIRST, some(4));
    proven.add(SECOND, some(4));
    proven.add(FIRST, some(6));
    expect(sizes()).toEqual([6, 4, 0]);
    proven.add(THIRD, some(1));
    expect(sizes()).toEqual([6, 0, 1]);
  });

  it('keeps no receipt of a block that has more than the total number', () => {
    proven.add(FIRST, some(11));
    expect(sizes()).toEqual([0, 0, 0]);
    proven.add(SECOND, some(10));
    expect(sizes()).toEqual([0, 10, 0]);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { commonAncestor } from '../../../src/modules/chain/application/common-ancestor.js';
import { STRIDE } from '../../../src/modules/chain/application/told-blocks.js';
import { ChainWindow } from '../../../src/modules/chain/domain/chain-window.js';
import { aHash } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';

const SIZE = 5;

/** A block of one branch, which links to the one before it. */
function link(number: number, branch = 0) {
  return { number, hash: aHash(branch * 1_000 + number), parentHash: aHash(branch * 1_000 + number - 1) };
}

describe('the window of blocks', () => {
  let window: ChainWindow;

  beforeEach(() => {
    window = new ChainWindow(SIZE);
    for (const number of [1, 2, 3]) window.push(link(number));
  });

  it('holds so many, and the lowest leaves first', () => {
    for (const number of [4, 5]) window.push(link(number));
    expect([window.bottom, window.hashAt(1), window.tip]).toEqual([1, aHash(1), 5]);
    window.push(link(6));
    expect([window.bottom, window.hashAt(1), window.hashAt(2), window.tip]).toEqual([2, null, aHash(2), 6]);
  });

  it('is extended by the child of its tip alone', () => {
    const child = link(4);
    expect(window.isExtendedBy(child)).toBe(true);
    expect(window.isExtendedBy({ ...child, number: 5 })).toBe(false);
    expect(window.isExtendedBy({ ...child, parentHash: aHash(404) })).toBe(false);
    expect(new ChainWindow(SIZE).isExtendedBy(child)).toBe(false);
  });

  it('takes back what is above a block, lowest first', () => {
    expect(window.rewindTo(1)).toEqual([
      { number: 2, hash: aHash(2) },
      { number: 3, hash: aHash(3) },
    ]);
    expect([window.tip, window.hashAt(1), window.hashAt(2)]).toEqual([1, aHash(1), null]);
    window.push(link(2, 7));
    expect([window.tip, window.hashAt(2)]).toEqual([2, aHash(7_002)]);
  });

  it('has no tip when everything was taken back, and takes nothing back above its tip', () => {
    expect([window.rewindTo(3), window.tip]).toEqual([[], 3]);
    expect([window.rewindTo(9), window.tip]).toEqual([[], 3]);
    expect([window.rewindTo(0).length, window.tip]).toEqual([3, null]);
  });

  it('begins anew with what it is given', () => {
    window.reset([link(8), link(9)]);
    expect([window.bottom, window.tip, window.hashAt(3)]).toEqual([8, 9, null]);
    window.reset([]);
    expect(window.tip).toBeNull();
  });

  it('is not changed by what becomes of its copy', () => {
    const copy = window.copy();
    for (const number of [4, 5, 6, 7]) copy.push(link(number));
    expect([window.bottom, window.tip, copy.bottom, copy.tip]).toEqual([1, 3, 3, 7]);
    copy.rewindTo(3);
    expect(window.hashAt(1)).toBe(aHash(1));
    expect(window.copy().bottom).toBe(1);
    expect(copy.copy().bottom).toBe(3);
  });
});

describe('the highest block that the node agrees with', () => {
  const LENGTH = 2 * STRIDE;
  let chain: ModelChain;
  let window: ChainWindow;

  /** Blocks from the lowest one to the end are followed; then the last ones are replaced. */
  async function forked(depth: number, lowest = 0): Promise<number | null> {
    const blocks = await chain.blocks(Array.from({ length: LENGTH + 1 - lowest }, (_, n) => lowest + n));
    window.reset(blocks.flatMap((block) => block ?? []));
    if (depth > 0) chain.reorg(depth);
    return commonAncestor(chain, window, LENGTH);
  }

  beforeEach(() => {
    chain = new ModelChain();
    chain.mineEmpty(LENGTH);
    window = new ChainWindow(1_000);
  });

  it.each([0, 1, STRIDE - 1, STRIDE, STRIDE + 1, LENGTH])(
    'is below what %p blocks of a fork replaced',
    async (depth) => {
      expect(await forked(depth)).toBe(LENGTH - depth);
    },
  );

  it.each([1, LENGTH - STRIDE, LENGTH - STRIDE + 1, LENGTH])(
    'is one below the window when that is gone, from block %p on',
    async (lowest) => {
      expect(await forked(LENGTH + 1 - lowest, lowest)).toBe(lowest - 1);
    },
  );

  it('is not known while the node does not say some block', async () => {
    const honest = chain.blocks.bind(chain);
    const silentAt = LENGTH - 3;
    expect(await forked(1)).toBe(LENGTH - 1);
    chain.blocks = async (numbers) =>
      (await honest(numbers)).map((block) => (block?.number === silentAt ? null : block));
    expect(await commonAncestor(chain, window, LENGTH)).toBeNull();
  });

  it('costs one question for so many blocks', async () => {
    const asked: number[] = [];
    const honest = chain.blocks.bind(chain);
    expect(await forked(STRIDE)).toBe(LENGTH - STRIDE);
    chain.blocks = async (numbers) => {
      asked.push(numbers.length);
      return honest(numbers);
    };
    await commonAncestor(chain, window, LENGTH);
    expect(asked).toEqual([STRIDE, STRIDE]);
  });
});

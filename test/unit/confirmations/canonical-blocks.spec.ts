import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { HeadTracker } from '../../../src/modules/chain/index.js';
import { CanonicalBlocks } from '../../../src/modules/confirmations/application/canonical-blocks.js';
import { aReceipt } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

let chain: ModelChain;
/** The lowest block that this node has followed. */
let followedFrom: number;
let canonical: CanonicalBlocks;

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(6);
  followedFrom = 4;
  const hashAt = (_chain: unknown, number: number) =>
    number < followedFrom ? null : (chain.blockAt(number)?.hash ?? null);
  canonical = new CanonicalBlocks(new ModelChains(chain), { hashAt } as unknown as HeadTracker);
});

const at = (...heights: readonly number[]) =>
  canonical.execute(
    chain.chainId,
    heights.map((blockNumber) => aReceipt({ blockNumber })),
  );
const hashes = (...heights: readonly number[]) => new Map(heights.map((n) => [n, chain.blockAt(n)?.hash]));

describe('the canonical blocks of receipts', () => {
  it('cost no call where they were followed', async () => {
    const blocks = jest.spyOn(chain, 'blocks');
    expect(await at(4, 6)).toEqual(hashes(4, 6));
    expect(blocks).not.toHaveBeenCalled();
  });

  it('are asked for in one call below what was followed, each height once', async () => {
    const blocks = jest.spyOn(chain, 'blocks');
    expect(await at(5, 1, 2, 1)).toEqual(hashes(5, 1, 2));
    expect(blocks.mock.calls).toEqual([[[1, 2]]]);
  });

  it('are missing where no node has the block', async () => {
    chain.blocks = async (numbers) => numbers.map((number) => (number === 1 ? null : chain.blockAt(number)));
    expect(await at(1, 2)).toEqual(hashes(2));
  });
});

describe('the followed block at a height', () => {
  it('is told with its hash', () => {
    expect(canonical.followed(chain.chainId, 5)).toEqual({ number: 5, hash: chain.blockAt(5)?.hash });
  });

  it('is none below what was followed', () => {
    expect(canonical.followed(chain.chainId, 3)).toBeNull();
  });
});

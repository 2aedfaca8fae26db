import { beforeEach, describe, expect, it } from '@jest/globals';
import { DistantHeads } from '../../../src/modules/chain/application/distant-heads.js';
import type { Block } from '../../../src/modules/chain/index.js';
import { ModelChain } from '../../support/model-chain.js';

let chain: ModelChain;
let heads: DistantHeads;

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(100);
  heads = new DistantHeads();
});

async function blockAt(number: number): Promise<Block> {
  const [block] = await chain.blocks([number]);
  if (!block) throw new Error(`there is a block ${number}`);
  return block;
}

describe('a distant head', () => {
  it('is confirmed by a second observation on the same chain', async () => {
    expect(await heads.isConfirmed(chain, await blockAt(100))).toBe(false);
    chain.mineEmpty(1);
    expect(await heads.isConfirmed(chain, await blockAt(101))).toBe(true);
  });

  it('is confirmed by the same head again', async () => {
    await heads.isConfirmed(chain, await blockAt(100));
    expect(await heads.isConfirmed(chain, await blockAt(100))).toBe(true);
  });

  it('is not confirmed when the one before it is no longer canonical', async () => {
    await heads.isConfirmed(chain, await blockAt(100));
    chain.reorg(1);
    expect(await heads.isConfirmed(chain, await blockAt(101))).toBe(false);
    chain.mineEmpty(1);
    expect(await heads.isConfirmed(chain, await blockAt(102))).toBe(true);
  });

  it('is not confirmed when it is below the one before it', async () => {
    await heads.isConfirmed(chain, await blockAt(100));
    expect(await heads.isConfirmed(chain, await blockAt(99))).toBe(false);
  });

  it('needs two observations again after clear', async () => {
    await heads.isConfirmed(chain, await blockAt(100));
    heads.clear(chain.chainId);
    expect(await heads.isConfirmed(chain, await blockAt(100))).toBe(false);
  });
});

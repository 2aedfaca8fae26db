import type { Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import type { Block } from '../domain/block.js';
import type { ChainBlocks, ChainConnector } from '../domain/chain-connector.js';
import type { Agreed } from '../domain/evidence.js';
import type { RecentBlocks } from '../domain/recent-blocks.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';

/** Blocks in one read. */
export const BLOCKS_PER_CALL = 50;

/**
 * Blocks in the given order; null for a block that the endpoint does not have. An RPC failure counts the same, because some nodes
 * answer with an error for a block that they have pruned.
 */
export async function readBlocks(
  chain: Pick<ChainConnector, 'blocks'>,
  numbers: readonly number[],
): Promise<readonly (Block | null)[]> {
  try {
    return await chain.blocks(numbers);
  } catch (error) {
    if (error instanceof RpcUnavailable) return numbers.map(() => null);
    throw error;
  }
}

/** Canonical hashes by height, as far as the endpoints agree. Each height is asked for once. */
export async function agreedHashes(
  chain: Pick<ChainConnector, 'agreedBlocks'>,
  heights: readonly number[],
): Promise<ReadonlyMap<number, Agreed<Hash>>> {
  const distinct = [...new Set(heights)];
  const answers = await chain.agreedBlocks(distinct);
  return new Map(
    distinct.flatMap((height, index): [number, Agreed<Hash>][] => {
      const answer = answers[index];
      return answer ? [[height, answer]] : [];
    }),
  );
}

/**
 * The highest followed block up to `from` that is still canonical; one below the lowest followed block when there is none.
 * null when the endpoint does not have some block (yet): only a *different* block at a height proves a reorg, or that the height has none.
 */
export async function commonAncestor(chain: ChainBlocks, recent: RecentBlocks, from: number): Promise<number | null> {
  for (let high = from; high >= recent.bottom; high -= BLOCKS_PER_CALL) {
    const numbers = range(Math.max(recent.bottom, high - BLOCKS_PER_CALL + 1), high).filter(
      (number) => recent.hashAt(number) !== null,
    );
    const blocks = await readBlocks(chain, numbers);
    const unknown = numbers.filter((_, index) => blocks[index] === null);
    if (unknown.length > 0 && !(await haveNoBlock(chain, unknown))) return null;
    const ancestor = numbers.findLast((number, index) => blocks[index]?.hash === recent.hashAt(number));
    if (ancestor !== undefined) return ancestor;
  }
  return recent.bottom - 1;
}

/** Blocks around heights without one that are read to prove that they have none; longer runs are hardly seen. */
const AROUND = 8;

/** Whether the blocks around each height are parent and child, so that there is nothing between them. */
async function haveNoBlock(chain: ChainBlocks, heights: readonly number[]): Promise<boolean> {
  const around = range(Math.max(0, Math.min(...heights) - AROUND), Math.max(...heights) + AROUND);
  const shown = (await readBlocks(chain, around)).filter((block) => block !== null);
  return heights.every((height) => {
    const child = shown.find(({ number }) => number > height);
    return child !== undefined && shown.findLast(({ number }) => number < height)?.hash === child.parentHash;
  });
}

import { range } from '../../../kernel/range.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import type { RecentBlocks } from '../domain/recent-blocks.js';
import { BLOCKS_PER_CALL, readBlocks } from './read-blocks.js';

/**
 * The highest followed block up to `from` that is still canonical; one below the lowest followed block when there is none.
 * null when the endpoint does not have some block (yet): only a *different* block at a height proves a reorg.
 */
export async function commonAncestor(
  chain: ChainConnector,
  recent: RecentBlocks,
  from: number,
): Promise<number | null> {
  for (let high = from; high >= recent.bottom; high -= BLOCKS_PER_CALL) {
    const numbers = range(Math.max(recent.bottom, high - BLOCKS_PER_CALL + 1), high);
    const blocks = await readBlocks(chain, numbers);
    if (blocks.some((block) => block === null)) return null;
    const ancestor = numbers.findLast((number, index) => blocks[index]?.hash === recent.hashAt(number));
    if (ancestor !== undefined) return ancestor;
  }
  return recent.bottom - 1;
}

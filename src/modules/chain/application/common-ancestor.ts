import { range } from '../../../kernel/range.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import type { RecentBlocks } from '../domain/recent-blocks.js';
import { BLOCKS_PER_CALL, readBlocks } from './read-blocks.js';

/**
 * The highest of our blocks up to `from` that the node agrees with; one below the bottom of the window when there is none.
 * null when the node does not say some block (yet): only a *different* one at a height proves a fork.
 */
export async function commonAncestor(
  chain: ChainConnector,
  window: RecentBlocks,
  from: number,
): Promise<number | null> {
  for (let high = from; high >= window.bottom; high -= BLOCKS_PER_CALL) {
    const numbers = range(Math.max(window.bottom, high - BLOCKS_PER_CALL + 1), high);
    const blocks = await readBlocks(chain, numbers);
    if (blocks.some((block) => block === null)) return null;
    const agreed = numbers.findLast((number, index) => blocks[index]?.hash === window.hashAt(number));
    if (agreed !== undefined) return agreed;
  }
  return window.bottom - 1;
}

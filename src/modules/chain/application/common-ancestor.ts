import type { Block } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';
import type { ChainWindow } from '../domain/chain-window.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';

/** Blocks asked for at once. */
export const STRIDE = 50;

/**
 * The highest of our blocks up to `from` that the node agrees with; one below the bottom of the window when there is none.
 * null when the node does not say some block (yet): only a *different* one at a height proves a fork.
 */
export async function commonAncestor(chain: ChainConnector, window: ChainWindow, from: number): Promise<number | null> {
  for (let high = from; high >= window.bottom; high -= STRIDE) {
    const numbers = range(Math.max(window.bottom, high - STRIDE + 1), high);
    const blocks = await blocksOrNull(chain, numbers);
    if (blocks === null || blocks.some((block) => block === null)) return null;
    const agreed = numbers.findLast((number, index) => blocks[index]?.hash === window.hashAt(number));
    if (agreed !== undefined) return agreed;
  }
  return window.bottom - 1;
}

/** What a node pruned is an error to some: to them it is as good as a block that they do not have. */
async function blocksOrNull(chain: ChainConnector, numbers: readonly number[]): Promise<(Block | null)[] | null> {
  try {
    return await chain.blocks(numbers);
  } catch (error) {
    if (error instanceof RpcUnavailable) return null;
    throw error;
  }
}

/** Both included. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import type { Block } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';

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

import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import type { Block } from '../domain/block.js';
import type { ChainConnector } from '../domain/chain-connector.js';

/** Blocks asked for at once. */
export const BLOCKS_PER_CALL = 50;

/**
 * Answers in the order asked, null for each that the node does not say: to some nodes a block that they have pruned is an error, and
 * to whoever asks it is as good as one that they do not have.
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

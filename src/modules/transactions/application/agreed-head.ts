import type { BlockRef, ChainConnector } from '../../chain/index.js';

/**
 * The newest block that the endpoints agree on, by the evidence of `make_final`: whatever is deep enough below it is deep enough for all of
 * them, and a head that one endpoint alone claims makes nothing final. Null when it is not known.
 *
 * @param head the newest block that was told; the one before it is asked for, too, since others may be a moment behind
 */
export async function agreedHead(chain: Pick<ChainConnector, 'agreedBlocks'>, head: number): Promise<BlockRef | null> {
  const [newest] = await chain.agreedBlocks([head]);
  if (newest) return { number: head, hash: newest };
  if (head === 0) return null;
  const [before] = await chain.agreedBlocks([head - 1]);
  return before ? { number: head - 1, hash: before } : null;
}

import type { ChainId } from '../../../kernel/signer-id.js';
import type { Block, BlockRef } from './block.js';

/** How the canonical chain changed between two observations of its head. */
export interface ChainUpdate {
  readonly chainId: ChainId;
  readonly head: number;
  /**
   * The blocks before the first of `blocks` were not read: there were too many of them, or they are older than what this node
   * followed, or no followed block is canonical any more. Then `orphaned` may be incomplete.
   */
  readonly gap: boolean;
  /** New canonical blocks, lowest first. */
  readonly blocks: readonly Block[];
  /** Blocks that were canonical and are no longer, or that an update without an end took for it. */
  readonly orphaned: readonly BlockRef[];
}

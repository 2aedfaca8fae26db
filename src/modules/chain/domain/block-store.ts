import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockHeader, BlockRef } from './block.js';

export type StoredBlock = Pick<BlockHeader, 'number' | 'hash' | 'parentHash'>;

/** The recent blocks of each chain, shared by all nodes. They are facts about the chain, so writing them needs no lease. */
export abstract class BlockStore {
  /** The newest canonical blocks that are linked by parent hash without a gap, lowest first. */
  abstract recent(chainId: ChainId, limit: number): Promise<StoredBlock[]>;
  /**
   * Stores blocks before anything is written that they change, so that they are found when it never comes to {@link advance}. They are in
   * neither of the other two lists until then.
   *
   * @returns the blocks above a number that were begun before and not followed: another node may be at them
   */
  abstract begin(chainId: ChainId, blocks: readonly BlockHeader[], above: number): Promise<BlockRef[]>;
  /** Marks the orphaned hashes as not canonical and stores the new blocks as canonical, in one transaction. */
  abstract advance(chainId: ChainId, orphaned: readonly Hash[], canonical: readonly BlockHeader[]): Promise<void>;
  /** The blocks in the newest `depth` heights that were canonical and no longer are. */
  abstract orphaned(chainId: ChainId, depth: number): Promise<BlockRef[]>;
  abstract forgetBelow(chainId: ChainId, number: number): Promise<void>;
}

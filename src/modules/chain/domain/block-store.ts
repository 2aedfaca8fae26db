import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { BlockHeader } from './block.js';

export type StoredBlock = Pick<BlockHeader, 'number' | 'hash' | 'parentHash'>;

/** The recent window of each chain, shared by all nodes and all transactions. Facts about the chain, so no lease is needed. */
export abstract class BlockStore {
  /** The newest canonical blocks that form one unbroken line, lowest first. */
  abstract recent(chainId: ChainId, limit: number): Promise<StoredBlock[]>;
  /** In one transaction: the orphaned hashes are no longer canonical, the new blocks are. */
  abstract advance(chainId: ChainId, orphaned: readonly Hash[], canonical: readonly BlockHeader[]): Promise<void>;
  /** Of the newest `depth` heights, the blocks that were canonical once. */
  abstract orphaned(chainId: ChainId, depth: number): Promise<{ readonly number: number; readonly hash: Hash }[]>;
  abstract forgetBelow(chainId: ChainId, number: number): Promise<void>;
}

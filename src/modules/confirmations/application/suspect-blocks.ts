import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import { type BlockRef, BlockStore, type ChainUpdate } from '../../chain/index.js';
import { FindReorgedFinals } from './find-reorged-finals.js';

/** Blocks below the head to search for stored orphaned blocks: a start must not read those of many days. */
const SEARCH_BLOCKS = 64;

/** Orphaned blocks that may contain final txs. */
export interface Suspects {
  /** Numbers of blocks by hash. */
  readonly blocks: Map<Hash, number>;
  /** Number of the lowest suspect; null when there is none. */
  readonly lowest: number | null;
  /** Whether some of them were not suspects before. */
  readonly hasNew: boolean;
  /** Call this when the update is applied. After a failure the same update comes again, and must find the same suspects. */
  readonly keep: () => void;
}

/** Keeps the orphaned blocks of each chain as long as they may contain final txs. */
@Injectable()
export class SuspectBlocks {
  private readonly suspects = new Map<ChainId, Map<Hash, number>>();
  /** Hashes of stored orphaned blocks that were suspects already. */
  private known = new Map<ChainId, ReadonlySet<Hash>>();

  constructor(
    private readonly blocks: BlockStore,
    private readonly reorgedFinals: FindReorgedFinals,
    watch: DatabaseWatch,
  ) {
    // That a tx was reopened may be among the lost commits, and the orphaned block may not be: every stored one is suspected again.
    watch.onNewEpoch(() => (this.known = new Map()));
  }

  isWaiting(chainId: ChainId): boolean {
    return (this.suspects.get(chainId)?.size ?? 0) > 0 || this.reorgedFinals.isWaiting(chainId);
  }

  async after(update: ChainUpdate): Promise<Suspects> {
    const { chainId, orphaned } = update;
    // Not the map of a later epoch: what was read before the epoch began must not become known in it.
    const { known } = this;
    const stored = await this.blocks.orphaned(chainId, SEARCH_BLOCKS);
    const before = known.get(chainId);
    const newlyStored = stored.filter(({ hash }) => !before?.has(hash));
    const { blocks, keep } = await this.suspectsAfter(update, newlyStored);
    return {
      blocks,
      lowest: blocks.size === 0 ? null : Math.min(...blocks.values()),
      hasNew: newlyStored.length > 0 || orphaned.length > 0,
      keep: () => {
        keep();
        this.suspects.set(chainId, blocks);
        known.set(chainId, new Set([...stored, ...orphaned].map(({ hash }) => hash)));
      },
    };
  }

  /**
   * @param newlyStored blocks that another node followed, and this one may not have: because it was not running, or because it went from one
   *   branch to a third one at once. This node may be the one to reopen txs that became final in them.
   */
  private async suspectsAfter(
    { chainId, blocks, orphaned, gap }: ChainUpdate,
    newlyStored: readonly BlockRef[],
  ): Promise<Pick<Suspects, 'blocks' | 'keep'>> {
    const suspects = new Map(this.suspects.get(chainId) ?? []);
    for (const { number, hash } of [...newlyStored, ...orphaned]) suspects.set(hash, number);
    // The reorg may reach below the blocks that this node followed. Search here: the node that stored it may not be running any more.
    const ours = new Set(orphaned.map(({ hash }) => hash));
    const mayReachBelow = newlyStored.some(({ hash }) => !ours.has(hash)) || (gap && orphaned.length > 0);
    const { gone, keep } = await this.reorgedFinals.execute(chainId, mayReachBelow);
    for (const { number, hash } of gone) suspects.set(hash, number);
    for (const { hash } of blocks) suspects.delete(hash);
    return { blocks: suspects, keep };
  }
}

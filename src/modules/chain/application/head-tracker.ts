import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import { Log } from '../../../platform/logging/log.js';
import type { BlockRef } from '../domain/block.js';
import { BlockStore } from '../domain/block-store.js';
import { Chains } from '../domain/chain-connector.js';
import type { ChainUpdate } from '../domain/chain-update.js';
import { RecentBlocks } from '../domain/recent-blocks.js';
import { AdvanceHead } from './advance-head.js';

/** Blocks kept per chain; more than any sensible number of confirmations. */
const WINDOW_BLOCKS = 2_048;

/**
 * Heights below the head in which blocks that were begun and not followed count as orphaned. More than one step reads, because they are found
 * when the head passes them; and all of these heights, because the node that began them may still write.
 */
const UNFINISHED_BLOCKS = 64;

/**
 * Follows each chain block by block, linked by parent hash, so that the work grows with the number of blocks and not with the number
 * of transactions in flight. The caller runs it once at a time per chain.
 */
@Injectable()
export class HeadTracker {
  private readonly recent = new Map<ChainId, RecentBlocks>();
  /** The same without an update that is being applied. */
  private readonly applied = new Map<ChainId, RecentBlocks>();
  /** The tip of each chain on which blocks were stored since old ones were deleted last. */
  private readonly unpruned = new Map<ChainId, number>();
  /** What is followed of them may be ahead of what the database has. */
  private readonly toLoadAgain = new Set<ChainId>();
  private readonly advanceHead: AdvanceHead;

  constructor(
    private readonly chains: Chains,
    private readonly store: BlockStore,
    clock: Clock,
    log: Log,
    watch: DatabaseWatch,
  ) {
    this.advanceHead = new AdvanceHead(log, clock);
    // What a reorg changed may be among the lost commits: it is found again from the stored blocks, which are as old as all the rest.
    watch.onNewEpoch(() => [...this.recent.keys()].forEach((chainId) => this.toLoadAgain.add(chainId)));
  }

  /** The canonical hash at a height; null for a height that this node has not followed. */
  hashAt(chainId: ChainId, number: number): Hash | null {
    return this.recent.get(chainId)?.hashAt(number) ?? null;
  }

  /** When this node last asked the chain for its head, and it was below this height: monotonic milliseconds, or null when it does not know. */
  lastWithout(chainId: ChainId, height: number): number | null {
    return this.advanceHead.lastWithout(chainId, height);
  }

  /** The newest followed block; null before the first one. */
  tip(chainId: ChainId): number | null {
    return this.recent.get(chainId)?.tip ?? null;
  }

  /** The newest followed block whose changes are written down; null before the first one. */
  appliedTip(chainId: ChainId): number | null {
    return this.applied.get(chainId)?.tip ?? null;
  }

  /** Whether the chain cannot be followed for now: its head is far below the followed blocks, or they are not there any more. */
  isStalled(chainId: ChainId): boolean {
    return this.advanceHead.isStalled(chainId);
  }

  /**
   * Whether a block is on the chain that was followed, and what it changed is written down; false when another one is in its place; null
   * when the chain was not followed that far.
   */
  isFollowed(chainId: ChainId, block: BlockRef): boolean | null {
    const isThere = this.recent.get(chainId)?.has(block) ?? null;
    if (isThere !== true) return isThere;
    return this.applied.get(chainId)?.has(block) === true ? true : null;
  }

  /**
   * One step towards the head. It calls `apply` when something is new, and counts only if `apply` succeeds: after a failure or a crash
   * the same blocks come again, so `apply` must be idempotent.
   *
   * @returns whether something was new
   */
  async execute(chainId: ChainId, apply: (update: ChainUpdate) => Promise<void>): Promise<boolean> {
    if (this.toLoadAgain.delete(chainId)) this.recent.delete(chainId);
    const before = this.recent.get(chainId) ?? (await this.load(chainId));
    const recent = before.copy();
    this.recent.set(chainId, recent);
    this.applied.set(chainId, before);
    try {
      const found = await this.advanceHead.execute(this.chains.get(chainId), recent);
      if (found === null) return false;
      const update = await this.begin(found, recent);
      await apply(update);
      await this.store.advance(
        chainId,
        update.orphaned.map(({ hash }) => hash),
        update.blocks,
      );
      if (recent.tip !== null) this.unpruned.set(chainId, recent.tip);
      this.applied.set(chainId, recent);
      return true;
    } catch (error) {
      // Not loaded from the store again: other nodes may have advanced it, and this node would skip those blocks. But what began with nothing
      // begins anew: else it would never hear of blocks that other nodes stored since, and of their reorg.
      if (before.tip === null) this.recent.delete(chainId);
      else this.recent.set(chainId, before);
      throw error;
    }
  }

  /** Deletes the stored blocks below the newest 2,048 of each chain that went on. Where it fails, the next block makes up for it. */
  async prune(): Promise<void> {
    for (const [chainId, tip] of this.unpruned) {
      this.unpruned.delete(chainId);
      await this.store.forgetBelow(chainId, tip - WINDOW_BLOCKS);
    }
  }

  /**
   * Stores the new blocks as begun. What was written of blocks that were begun and then left, by any node, is undone like that of followed
   * ones.
   */
  private async begin(update: ChainUpdate, recent: RecentBlocks): Promise<ChainUpdate> {
    const { chainId, head, blocks, orphaned } = update;
    const begun = await this.store.begin(chainId, blocks, head - UNFINISHED_BLOCKS);
    return { ...update, orphaned: [...orphaned, ...begun.filter((block) => recent.excludes(block))] };
  }

  private async load(chainId: ChainId): Promise<RecentBlocks> {
    const recent = new RecentBlocks(WINDOW_BLOCKS);
    recent.reset(await this.store.recent(chainId, WINDOW_BLOCKS));
    return recent;
  }
}

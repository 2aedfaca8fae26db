import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import type { Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log, type LogFields } from '../../../platform/logging/log.js';
import type { Block, BlockHeader, BlockRef } from '../domain/block.js';
import { BlockStore } from '../domain/block-store.js';
import { type ChainConnector, Chains } from '../domain/chain-connector.js';
import { RecentBlocks } from '../domain/recent-blocks.js';
import { commonAncestor } from './common-ancestor.js';
import { BLOCKS_PER_CALL } from './read-blocks.js';

/** What changed on a chain since the last look. */
export interface ChainUpdate {
  readonly chainId: ChainId;
  readonly head: number;
  /**
   * Blocks before the first of these were not looked at: too many to walk, or from before this node followed the chain, or none
   * is left of those that it did follow. Orphans below the ones that are named may be unknown, then.
   */
  readonly gap: boolean;
  /** New canonical blocks, lowest first. */
  readonly blocks: readonly Block[];
  /** Blocks that were canonical and are no more. */
  readonly orphaned: Orphans;
}

type Orphans = readonly { readonly number: number; readonly hash: Hash }[];

/** Blocks kept per chain; deeper than any sensible number of confirmations. */
const WINDOW = 2_048;
/** Looks after which is not waited for blocks that no node has (some keep only the last ones), nor for a head that stays low. */
const PATIENCE = 30;

/**
 * Follows each chain block by block, linked by parent hash, so that work grows with blocks and not with transactions in
 * flight. One walk at a time per chain.
 */
@Injectable()
export class HeadTracker {
  private readonly windows = new Map<ChainId, RecentBlocks>();
  /** Chains that cannot be followed for now, why, and for how many looks. */
  private readonly standing = new Map<ChainId, { readonly why: string; readonly looks: number }>();

  /** Heads far ahead that one look saw. */
  private readonly leaps = new Map<ChainId, BlockRef>();

  constructor(
    private readonly chains: Chains,
    private readonly store: BlockStore,
    private readonly config: ConfirmationsConfig,
    private readonly log: Log,
  ) {}

  /** The canonical hash at a height, as far as this node has followed the chain. */
  hashAt(chainId: ChainId, number: number): Hash | null {
    return this.windows.get(chainId)?.hashAt(number) ?? null;
  }

  /** The newest block that was followed; null before the first. */
  tip(chainId: ChainId): number | null {
    return this.windows.get(chainId)?.tip ?? null;
  }

  /**
   * One stride towards the head. `apply` is called when something is new, and the stride counts only if it succeeds: after a
   * failure, or a crash, the same blocks come again, so `apply` must bear being repeated.
   *
   * @returns whether something was new
   */
  async execute(chainId: ChainId, apply: (update: ChainUpdate) => Promise<void>): Promise<boolean> {
    const chain = this.chains.get(chainId);
    const before = this.windows.get(chainId) ?? (await this.open(chainId));
    const window = before.copy();
    this.windows.set(chainId, window);
    try {
      const update = await this.advance(chain, window);
      if (update === null) return false;
      await apply(update);
      await this.store.advance(
        chainId,
        update.orphaned.map(({ hash }) => hash),
        update.blocks,
      );
      await this.prune(chainId, window);
      return true;
    } catch (error) {
      // Not from the store: other nodes may have gone on there, and these blocks would be skipped.
      this.windows.set(chainId, before);
      throw error;
    }
  }

  private async open(chainId: ChainId): Promise<RecentBlocks> {
    const window = new RecentBlocks(WINDOW);
    window.reset(await this.store.recent(chainId, WINDOW));
    return window;
  }

  private async advance(chain: ChainConnector, window: RecentBlocks): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const head = await chain.head();
    const { tip } = window;
    if (tip === null || head.number - tip > this.config.blockQueueLength) return this.jump(chain, window, head.number);
    if (head.number < window.bottom) return this.startOver(chain, window, head);
    this.standing.delete(chainId);
    this.leaps.delete(chainId);
    if (head.number <= tip) {
      // The same block: nothing new, or a node that lags behind the one asked before. A different one: a fork.
      if (head.hash === window.hashAt(head.number)) return null;
      return this.fork(chain, window, head.number, head.number);
    }
    const blocks = await this.walk(chain, window, head.number);
    if (blocks.length > 0) return { chainId, head: window.tip ?? head.number, blocks, orphaned: [], gap: false };
    return this.fork(chain, window, tip, head.number);
  }

  /** @param from the highest of our blocks that may be gone */
  private async fork(
    chain: ChainConnector,
    window: RecentBlocks,
    from: number,
    head: number,
  ): Promise<ChainUpdate | null> {
    // The next tick looks again at what the node does not have yet.
    const orphaned = (await this.rewind(chain, window, from)) ?? [];
    if (orphaned.length === 0) return null;
    // Of nothing that is left, the walk goes on from the head.
    const gap = window.tip === null;
    const blocks = await this.walk(chain, window, head);
    return { chainId: chain.chainId, head: window.tip ?? head, blocks, orphaned, gap };
  }

  /** What was followed before the gap may be gone, too: afterwards nobody would ask for it. */
  private async jump(chain: ChainConnector, window: RecentBlocks, head: number): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const { tip } = window;
    const [block] = await chain.blocks([head]);
    if (!block || (tip !== null && !(await this.isSeenAgain(chain, block)))) return null;
    const orphaned = tip === null ? [] : await this.rewind(chain, window, tip);
    if (orphaned === null) {
      if (!this.hasStoodLong(chainId, 'the node does not have the blocks that were followed last', { head, tip }))
        return null;
      this.log.error('whether a reorg took back what was final is not known: no node has its blocks', { chainId, tip });
    }
    this.standing.delete(chainId);
    this.leaps.delete(chainId);
    this.log.info('following the chain from its head', { chainId, block: head, from: tip });
    window.reset([block]);
    return { chainId, head, blocks: [block], orphaned: orphaned ?? [], gap: true };
  }

  /** A head far ahead may be told once by mistake; one that another look finds on the same chain is there. */
  private async isSeenAgain(chain: ChainConnector, block: Block): Promise<boolean> {
    const earlier = this.leaps.get(chain.chainId);
    this.leaps.set(chain.chainId, block);
    if (earlier === undefined || earlier.number > block.number) return false;
    const [known] = await chain.blocks([earlier.number]);
    return known?.hash === earlier.hash;
  }

  /**
   * Nothing is undone on the word of a low head: an endpoint that lags says the same as a chain that was started anew, and so does an
   * honest one after another told a head that was never there. Following goes on below, after a while, for else it never would.
   */
  private async startOver(chain: ChainConnector, window: RecentBlocks, head: BlockHeader): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const fields = { head: head.number, lowest: window.bottom };
    if (
      !this.hasStoodLong(
        chainId,
        'the head is below all blocks that were followed: it lags, or the chain was reset',
        fields,
      )
    )
      return null;
    const [block] = await chain.blocks([head.number]);
    if (!block) return null;
    this.standing.delete(chainId);
    this.log.error('the head stays below all blocks that were followed: following it, and undoing nothing', {
      chainId,
      ...fields,
    });
    window.reset([block]);
    return { chainId, head: head.number, blocks: [block], orphaned: [], gap: true };
  }

  /** False for a while; says at the first look that the chain cannot be followed for now. */
  private hasStoodLong(chainId: ChainId, why: string, fields: LogFields): boolean {
    const before = this.standing.get(chainId);
    const looks = before?.why === why ? before.looks : 0;
    if (looks === 0) this.log.warn(why, { chainId, ...fields });
    this.standing.set(chainId, { why, looks: looks + 1 });
    return looks >= PATIENCE;
  }

  /** Takes back our blocks above the highest one that the node agrees with; null when it does not have them all. */
  private async rewind(chain: ChainConnector, window: RecentBlocks, from: number): Promise<Orphans | null> {
    const agreed = await commonAncestor(chain, window, from);
    if (agreed === null) return null;
    if (agreed === from) return [];
    const orphaned = window.rewindTo(agreed);
    this.log.warn('reorg', { chainId: chain.chainId, depth: orphaned.length, commonAncestor: agreed });
    return orphaned;
  }

  /** Stops at the first block that does not fit: the chain moved while we read, and the next tick goes on from there. */
  private async walk(chain: ChainConnector, window: RecentBlocks, head: number): Promise<Block[]> {
    const first = (window.tip ?? head - 1) + 1;
    const answers = await chain.blocks(range(first, Math.min(head, first + BLOCKS_PER_CALL - 1)));
    const linked: Block[] = [];
    for (const block of answers) {
      if (!block || (window.tip !== null && !window.isExtendedBy(block))) break;
      window.push(block);
      linked.push(block);
    }
    return linked;
  }

  private async prune(chainId: ChainId, window: RecentBlocks): Promise<void> {
    if (window.tip !== null && window.tip % 100 === 0) await this.store.forgetBelow(chainId, window.tip - WINDOW);
  }
}

import type { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { range } from '../../../kernel/range.js';
import type { Log } from '../../../platform/logging/log.js';
import type { Block, BlockHeader, BlockRef } from '../domain/block.js';
import type { ChainBlocks } from '../domain/chain-connector.js';
import type { ChainUpdate } from '../domain/chain-update.js';
import { HeadLooks } from '../domain/head-looks.js';
import type { RecentBlocks } from '../domain/recent-blocks.js';
import { BLOCKS_PER_CALL, commonAncestor } from './read-blocks.js';
import { DistantHeads } from './distant-heads.js';
import { StalledChains } from './stalled-chains.js';

/**
 * Missed blocks that are read one by one. After a longer gap, the receipts of all transactions in flight are requested by hash, once, and the
 * walk continues from the head.
 */
const MOST_WALKED = 1_000;

const NO_CHILD = 'next block is no child of the followed tip, the endpoint lost blocks or tells wrong parents';

/** Reads what is new on a chain, and moves its recent blocks there: forward, through a reorg, or over a gap. */
export class AdvanceHead {
  private readonly stalled: StalledChains;
  private readonly distant = new DistantHeads();
  private readonly looks = new Map<ChainId, HeadLooks>();

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.stalled = new StalledChains(log);
  }

  /** Whether the last step did not allow to follow the chain. */
  isStalled(chainId: ChainId): boolean {
    return this.stalled.isStalled(chainId);
  }

  /** When the head was last asked for and was below this height, in monotonic milliseconds; null when nobody knows. */
  lastWithout(chainId: ChainId, height: number): number | null {
    return this.looks.get(chainId)?.lastWithout(height) ?? null;
  }

  /**
   * @param recent is changed, also when this throws
   * @returns null when nothing is new, or when the chain cannot be followed for now
   */
  async execute(chain: ChainBlocks, recent: RecentBlocks): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const askedAtMs = this.clock.monotonicMs();
    const head = await chain.head();
    const { tip } = recent;
    this.looked(chainId, head.number, askedAtMs);
    if (tip === null || head.number - tip > MOST_WALKED) return this.jump(chain, recent, head.number);
    if (head.number < recent.bottom) return this.startBelow(chain, recent, head);
    // The same block: nothing is new, or this endpoint lags behind the endpoint that was asked before. Another block: a reorg.
    const isKnown = head.number <= tip && head.hash === recent.hashAt(head.number);
    const { blocks, isBroken } = head.number > tip ? await walk(chain, recent, head.number) : NOTHING;
    if (isKnown) return this.nothingNew(chainId);
    if (blocks.length > 0) {
      this.advanced(chainId);
      return { chainId, head: recent.tip ?? head.number, blocks, orphaned: [], gap: false };
    }
    // Null: the endpoint does not have some block yet. The next run asks again.
    const orphaned = await this.rewind(chain, recent, Math.min(tip, head.number));
    if (orphaned?.length === 0 && isBroken) return this.stepOver(chain, recent, head.number);
    if (!orphaned || orphaned.length === 0) return this.nothingNew(chainId);
    this.advanced(chainId);
    // When no followed block is left, the walk starts at the head.
    const gap = recent.tip === null;
    const walked = await walk(chain, recent, head.number);
    return { chainId, head: recent.tip ?? head.number, blocks: walked.blocks, orphaned, gap };
  }

  private looked(chainId: ChainId, head: number, atMs: number): void {
    const looks = this.looks.get(chainId) ?? new HeadLooks();
    this.looks.set(chainId, looks);
    looks.add(head, atMs);
  }

  /** An endpoint that lags does not tell whether the next block is a child of the tip, so the observations of those that have it go on counting. */
  private nothingNew(chainId: ChainId): null {
    if (!this.stalled.isStalledBy(chainId, NO_CHILD)) this.advanced(chainId);
    return null;
  }

  private advanced(chainId: ChainId): void {
    this.stalled.clear(chainId);
    this.distant.clear(chainId);
  }

  /** The tip is canonical, and what is above it is no child of it: nodes lose blocks, or tell wrong parents (docs/public-cases.md, K4). */
  private async stepOver(chain: ChainBlocks, recent: RecentBlocks, head: number): Promise<ChainUpdate | null> {
    if (!this.stalled.isStalledTooLong(chain.chainId, NO_CHILD, { head, tip: recent.tip })) return null;
    return this.jump(chain, recent, head);
  }

  /** Continues at a distant head. First it orphans the followed blocks that a reorg replaced: no later run would find them. */
  private async jump(chain: ChainBlocks, recent: RecentBlocks, head: number): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const { tip } = recent;
    const [block] = await chain.blocks([head]);
    if (!block || (tip !== null && !(await this.distant.isConfirmed(chain, block)))) return null;
    const orphaned = tip === null ? [] : await this.rewind(chain, recent, tip);
    if (orphaned === null) {
      const reason = 'failed to fetch the followed blocks, cannot tell whether a reorg replaced them';
      if (!this.stalled.isStalledTooLong(chainId, reason, { head, tip })) return null;
      this.log.error('no endpoint has the followed blocks, a reorg of final transactions may be missed', {
        chainId,
        tip,
      });
    }
    this.advanced(chainId);
    this.log.info('head tracker continues at the head, blocks between are skipped', {
      chainId,
      block: head,
      from: tip,
    });
    recent.reset([block]);
    return { chainId, head, blocks: [block], orphaned: orphaned ?? [], gap: true };
  }

  /**
   * A head below all followed blocks orphans none of them: the endpoint may lag, the chain may have been reset, or an earlier head may
   * have been wrong. The head tracker waits, and then continues at the low head, because otherwise it might wait for ever.
   */
  private async startBelow(chain: ChainBlocks, recent: RecentBlocks, head: BlockHeader): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const fields = { head: head.number, lowest: recent.bottom };
    const reason = 'head is below all followed blocks, the endpoint lags or the chain was reset';
    if (!this.stalled.isStalledTooLong(chainId, reason, fields)) return null;
    const [block] = await chain.blocks([head.number]);
    if (!block) return null;
    this.stalled.clear(chainId);
    this.log.error('head stays below all followed blocks, head tracker continues there and orphans nothing', {
      chainId,
      ...fields,
    });
    recent.reset([block]);
    return { chainId, head: head.number, blocks: [block], orphaned: [], gap: true };
  }

  /** Removes the followed blocks above the common ancestor; null when the endpoint does not have all blocks needed to find it. */
  private async rewind(chain: ChainBlocks, recent: RecentBlocks, from: number): Promise<readonly BlockRef[] | null> {
    const ancestor = await commonAncestor(chain, recent, from);
    if (ancestor === null) return null;
    if (ancestor === from) return [];
    const orphaned = recent.rewindTo(ancestor);
    this.log.warn('reorg', { chainId: chain.chainId, depth: orphaned.length, commonAncestor: ancestor });
    return orphaned;
  }
}

interface Walked {
  readonly blocks: readonly Block[];
  /** The endpoint has a block above them that is not their child. */
  readonly isBroken: boolean;
}

const NOTHING: Walked = { blocks: [], isBroken: false };

/** Stops at the first block that does not extend the tip: the chain changed during the read, and the next run continues there. */
async function walk(chain: ChainBlocks, recent: RecentBlocks, head: number): Promise<Walked> {
  const first = (recent.tip ?? head - 1) + 1;
  const answers = await chain.blocks(range(first, Math.min(head, first + BLOCKS_PER_CALL - 1)));
  const linked: Block[] = [];
  for (const block of answers) {
    // Whether a height without an answer has no block, or one that the endpoint does not have yet: the parent of the next block tells.
    if (!block) continue;
    if (recent.tip !== null && !recent.isExtendedBy(block)) return { blocks: linked, isBroken: true };
    recent.push(block);
    linked.push(block);
  }
  return { blocks: linked, isBroken: false };
}

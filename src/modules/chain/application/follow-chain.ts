import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { Block } from '../domain/block.js';
import { BlockStore } from '../domain/block-store.js';
import { type ChainConnector, Chains } from '../domain/chain-connector.js';
import { ChainWindow } from '../domain/chain-window.js';

/** What changed on a chain since the last look. */
export interface ChainUpdate {
  readonly chainId: ChainId;
  readonly head: number;
  /** Blocks before the first of these were not looked at: too many to walk, or from before this node followed the chain. */
  readonly gap: boolean;
  /** New canonical blocks, lowest first. */
  readonly blocks: readonly Block[];
  /** Blocks that were canonical and are no more. */
  readonly orphaned: readonly { readonly number: number; readonly hash: Hash }[];
}

/** Blocks kept per chain; deeper than any sensible number of confirmations. */
const WINDOW = 2_048;
/** Blocks asked for at once. */
const STRIDE = 50;
/** A gap that would take longer to walk is jumped; receipts are then asked for by hash (design, section 10). */
const LONGEST_WALK = 1_000;

/**
 * Follows each chain block by block, linked by parent hash, so that work grows with blocks and not with transactions in
 * flight. One walk at a time per chain.
 */
@Injectable()
export class FollowChain {
  private readonly windows = new Map<ChainId, ChainWindow>();

  constructor(
    private readonly chains: Chains,
    private readonly store: BlockStore,
    private readonly log: Log,
  ) {}

  /** The canonical hash at a height, as far as this node has followed the chain. */
  hashAt(chainId: ChainId, number: number): Hash | null {
    return this.windows.get(chainId)?.hashAt(number) ?? null;
  }

  /**
   * One stride towards the head. `apply` is called when something is new, and the stride counts only if it succeeds: after a
   * failure, or a crash, the same blocks come again, so `apply` must bear being repeated.
   */
  async execute(chainId: ChainId, apply: (update: ChainUpdate) => Promise<void>): Promise<void> {
    const chain = this.chains.get(chainId);
    const before = this.windows.get(chainId) ?? (await this.open(chainId));
    const window = before.copy();
    this.windows.set(chainId, window);
    try {
      const update = await this.advance(chain, window);
      if (update === null) return;
      await apply(update);
      await this.store.advance(
        chainId,
        update.orphaned.map(({ hash }) => hash),
        update.blocks,
      );
      await this.prune(chainId, window);
    } catch (error) {
      // Not from the store: other nodes may have gone on there, and these blocks would be skipped.
      this.windows.set(chainId, before);
      throw error;
    }
  }

  private async open(chainId: ChainId): Promise<ChainWindow> {
    const window = new ChainWindow(WINDOW);
    window.reset(await this.store.recent(chainId, WINDOW));
    return window;
  }

  private async advance(chain: ChainConnector, window: ChainWindow): Promise<ChainUpdate | null> {
    const { chainId } = chain;
    const head = await chain.head();
    const { tip } = window;
    if (tip === null || head.number - tip > LONGEST_WALK) return this.jump(chain, window, head.number);
    if (head.number <= tip) {
      // The same block, or one from before our window: nothing new, or a node that lags behind the one asked before. A
      // different one: a fork.
      if (head.number < window.bottom || head.hash === window.hashAt(head.number)) return null;
      const orphaned = await this.rewind(chain, window, head.number);
      return orphaned.length === 0 ? null : this.afterFork(chain, window, head.number, orphaned);
    }
    const blocks = await this.walk(chain, window, head.number);
    if (blocks.length > 0) return { chainId, head: window.tip ?? head.number, blocks, orphaned: [], gap: false };
    const orphaned = await this.rewind(chain, window, tip);
    return orphaned.length === 0 ? null : this.afterFork(chain, window, head.number, orphaned);
  }

  private async afterFork(
    chain: ChainConnector,
    window: ChainWindow,
    head: number,
    orphaned: ChainUpdate['orphaned'],
  ): Promise<ChainUpdate> {
    const blocks = await this.walk(chain, window, head);
    return { chainId: chain.chainId, head: window.tip ?? head, blocks, orphaned, gap: false };
  }

  private async jump(chain: ChainConnector, window: ChainWindow, head: number): Promise<ChainUpdate | null> {
    const [block] = await chain.blocks([head]);
    if (!block) return null;
    this.log.info('following the chain from its head', { chainId: chain.chainId, block: head, from: window.tip });
    window.reset([block]);
    return { chainId: chain.chainId, head, blocks: [block], orphaned: [], gap: true };
  }

  /**
   * Takes back our blocks above the highest one that the node agrees with. Only a *different* block at a height proves a
   * fork; one that the node does not have (yet) proves nothing, and the next tick looks again.
   */
  private async rewind(
    chain: ChainConnector,
    window: ChainWindow,
    from: number,
  ): Promise<{ number: number; hash: Hash }[]> {
    for (let high = from; high >= window.bottom; high -= STRIDE) {
      const numbers = range(Math.max(window.bottom, high - STRIDE + 1), high);
      const blocks = await chain.blocks(numbers);
      if (blocks.some((block) => block === null)) return [];
      const agreed = numbers.findLast((number, index) => blocks[index]?.hash === window.hashAt(number));
      if (agreed === from) return [];
      if (agreed !== undefined) return this.takeBack(chain.chainId, window, agreed);
    }
    return this.takeBack(chain.chainId, window, window.bottom - 1);
  }

  private takeBack(chainId: ChainId, window: ChainWindow, agreed: number): { number: number; hash: Hash }[] {
    const orphaned = window.rewindTo(agreed);
    this.log.warn('reorg', { chainId, depth: orphaned.length, commonAncestor: agreed });
    return orphaned;
  }

  /** Stops at the first block that does not fit: the chain moved while we read, and the next tick goes on from there. */
  private async walk(chain: ChainConnector, window: ChainWindow, head: number): Promise<Block[]> {
    const first = (window.tip ?? head - 1) + 1;
    const answers = await chain.blocks(range(first, Math.min(head, first + STRIDE - 1)));
    const linked: Block[] = [];
    for (const block of answers) {
      if (!block || (window.tip !== null && !window.isExtendedBy(block))) break;
      window.push(block);
      linked.push(block);
    }
    return linked;
  }

  private async prune(chainId: ChainId, window: ChainWindow): Promise<void> {
    if (window.tip !== null && window.tip % 100 === 0) await this.store.forgetBelow(chainId, window.tip - WINDOW);
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

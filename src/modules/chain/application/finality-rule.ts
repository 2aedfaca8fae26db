import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { BlockRef } from '../domain/block.js';
import type { ChainConnector, FinalityTag } from '../domain/chain-connector.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import { byDepth, byTag, type FinalHeights } from '../domain/final-heights.js';
import { AgreedHeads } from './agreed-heads.js';
import { ChainRules } from './chain-rules.js';

/** Time between two warnings about one chain. */
const WARN_EVERY_MS = 60_000;

/** Applies the configured finality of a chain: how deep a block must be, or under which tag. */
@Injectable()
export class FinalityRule {
  private readonly warnedAt = new Map<ChainId, number>();
  private readonly heads = new AgreedHeads();

  constructor(
    private readonly rules: ChainRules,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Whether {@link heights} costs an RPC call. */
  asksTheChain(chainId: ChainId): boolean {
    return this.rules.finality(chainId) !== 'depth';
  }

  /** See {@link AgreedHeads.newest}. */
  agreedHead(chain: Pick<ChainConnector, 'chainId' | 'agreedBlocks'>, head: number): Promise<BlockRef | null> {
    return this.heads.newest(chain, head);
  }

  /**
   * @param head number of the newest block that the caller followed
   * @returns null when the node does not have the configured tag: then nothing becomes final. The depth never replaces the tag,
   *   because it is weaker than what the operator asked for.
   */
  async heights(chain: Pick<ChainConnector, 'chainId' | 'taggedHead'>, head: number): Promise<FinalHeights | null> {
    const mode = this.rules.finality(chain.chainId);
    if (mode === 'depth') return byDepth(head, this.rules.requiredConfirmations(chain.chainId));
    const tagged = await this.tagged(chain, mode);
    return tagged === null ? null : byTag(head, tagged);
  }

  private async tagged(
    chain: Pick<ChainConnector, 'chainId' | 'taggedHead'>,
    tag: FinalityTag,
  ): Promise<number | null> {
    try {
      const block = await chain.taggedHead(tag);
      if (block === null) this.warn(chain.chainId, tag, 'the node has no block under this tag');
      return block?.number ?? null;
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.warn(chain.chainId, tag, error.message);
      return null;
    }
  }

  /** At most once per interval: every new head would repeat the warning. */
  private warn(chainId: ChainId, tag: FinalityTag, error: string): void {
    const now = this.clock.monotonicMs();
    if (now - (this.warnedAt.get(chainId) ?? -Infinity) < WARN_EVERY_MS) return;
    this.warnedAt.set(chainId, now);
    this.log.warn('failed to read the block under the finality tag, nothing becomes final', { chainId, tag, error });
  }
}

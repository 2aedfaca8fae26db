import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type BlockRef, Chains, HeadTracker, type Receipt } from '../../chain/index.js';

/** Reads canonical blocks: from the followed blocks, and from the chain for blocks below them. */
@Injectable()
export class CanonicalBlocks {
  constructor(
    private readonly chains: Chains,
    private readonly tracker: HeadTracker,
  ) {}

  /** @returns canonical hashes by height, for the heights of the receipts, as far as they are known */
  async execute(chainId: ChainId, receipts: readonly Receipt[]): Promise<ReadonlyMap<number, Hash>> {
    const numbers = [...new Set(receipts.map(({ blockNumber }) => blockNumber))];
    const known = new Map(
      numbers.flatMap((number): [number, Hash][] => {
        const hash = this.tracker.hashAt(chainId, number);
        return hash === null ? [] : [[number, hash]];
      }),
    );
    const missing = numbers.filter((number) => !known.has(number));
    const blocks = missing.length === 0 ? [] : await this.chains.get(chainId).blocks(missing);
    for (const block of blocks) if (block) known.set(block.number, block.hash);
    return known;
  }

  /** The followed block at this height; null when it was not followed. */
  followed(chainId: ChainId, number: number): BlockRef | null {
    const hash = this.tracker.hashAt(chainId, number);
    return hash && { number, hash };
  }
}

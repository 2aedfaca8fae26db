import type { Hash } from '../../../kernel/hex.js';
import type { BlockHeader, BlockRef } from './block.js';

type Link = Pick<BlockHeader, 'number' | 'hash' | 'parentHash'>;

/** The newest canonical blocks of a chain, linked by parent hash. A height may have none (docs/invariants.md, K4). */
export class RecentBlocks {
  private readonly hashes = new Map<number, Hash>();
  private highest: number | null = null;
  private lowest = 0;

  constructor(private readonly size: number) {}

  copy(): RecentBlocks {
    const copy = new RecentBlocks(this.size);
    for (const [number, hash] of this.hashes) copy.hashes.set(number, hash);
    copy.highest = this.highest;
    copy.lowest = this.lowest;
    return copy;
  }

  get tip(): number | null {
    return this.highest;
  }

  hashAt(number: number): Hash | null {
    return this.hashes.get(number) ?? null;
  }

  /** Whether a block is one of these; null above the tip. One that is older than all of them is not contradicted. */
  has(block: BlockRef): boolean | null {
    return this.highest === null || block.number > this.highest ? null : !this.excludes(block);
  }

  /** Whether another block has the place of this one, or its height has none. */
  excludes({ number, hash }: BlockRef): boolean {
    return this.highest !== null && number >= this.lowest && number <= this.highest && this.hashAt(number) !== hash;
  }

  /** Replaces all blocks; used at the start, and after a gap that is too long to read every block. */
  reset(links: readonly Link[]): void {
    this.hashes.clear();
    this.highest = null;
    for (const link of links) this.push(link);
  }

  /** Whether the block is the child of the tip; if not, a reorg happened, or blocks are missing. Heights between them have no block. */
  isExtendedBy(block: Link): boolean {
    return this.highest !== null && block.number > this.highest && this.hashAt(this.highest) === block.parentHash;
  }

  push(link: Link): void {
    if (this.highest === null) this.lowest = link.number;
    this.hashes.set(link.number, link.hash);
    this.highest = link.number;
    while (this.hashes.size > this.size) {
      this.hashes.delete(this.lowest);
      this.lowest += 1;
    }
  }

  /** Removes all blocks above a number. @returns the removed blocks, lowest first */
  rewindTo(number: number): { readonly number: number; readonly hash: Hash }[] {
    const orphaned = [...this.hashes].filter(([at]) => at > number).map(([at, hash]) => ({ number: at, hash }));
    for (const { number: at } of orphaned) this.hashes.delete(at);
    this.highest = this.hashes.size === 0 ? null : Math.min(this.highest ?? number, number);
    return orphaned;
  }

  get bottom(): number {
    return this.lowest;
  }
}

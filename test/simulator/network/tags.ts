import type { FinalityTag } from '../../../src/modules/chain/index.js';

/** Blocks by which a tag is behind the head when nothing is wrong. */
const USUAL_LAG: Readonly<Record<FinalityTag, number>> = { safe: 2, finalized: 4 };

/** The blocks that the chain itself calls safe and finalized. */
export class Tags {
  /** Nodes know no such block. */
  isAbsent = false;
  /** They do not follow the head. */
  standStill = false;
  private at: Record<FinalityTag, number> = { safe: 0, finalized: 0 };

  of(tag: FinalityTag): number {
    return this.at[tag];
  }

  follow(height: number): void {
    if (!this.standStill) this.raise(height, USUAL_LAG);
  }

  /** At once next to the head. */
  jump(height: number): void {
    this.raise(height, { safe: 0, finalized: 1 });
  }

  /** As a node does that was restored from an older copy. */
  goBack(blocks: number): void {
    this.at = { safe: Math.max(0, this.at.safe - blocks), finalized: Math.max(0, this.at.finalized - blocks) };
  }

  /** A reorg leaves no tag above the last block that is left. */
  cut(height: number): void {
    this.at = { safe: Math.min(this.at.safe, height), finalized: Math.min(this.at.finalized, height) };
  }

  private raise(height: number, lag: Readonly<Record<FinalityTag, number>>): void {
    this.at = {
      safe: Math.max(this.at.safe, height - lag.safe),
      finalized: Math.max(this.at.finalized, height - lag.finalized),
    };
  }
}

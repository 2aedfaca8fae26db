import type { Hash } from '../../../src/kernel/hex.js';
import type { ModelBlock } from '../../support/model-chain.js';
import { REQUIRED_CONFIRMATIONS } from '../sim-config.js';
import type { Rules } from './rules.js';

interface Standing {
  /** The most blocks that ever were on top of it. */
  readonly depth: number;
  /** Whether the chain's tag of the rule ever was on it, or above. */
  readonly tagged: boolean;
}

/** What may have been called final at any time, also of blocks that a reorg has taken back since. */
export class FinalityRecord {
  private readonly standings = new Map<Hash, Standing>();

  constructor(private readonly finality: Rules['finality']) {}

  /** @param tag number of the highest block under the tag of the rule, as of now */
  saw(canonical: readonly ModelBlock[], tag: number): void {
    const tip = canonical.length - 1;
    for (const { hash, number } of canonical) {
      const known = this.standings.get(hash);
      this.standings.set(hash, {
        depth: Math.max(known?.depth ?? 0, tip - number),
        tagged: known?.tagged === true || number <= tag,
      });
    }
  }

  /** @param own confirmations of the request itself */
  wasFinal(hash: string, own: number | null = null): boolean {
    const standing = this.standings.get(hash as Hash);
    if (!standing) return false;
    if (this.finality === 'depth') return standing.depth >= (own ?? REQUIRED_CONFIRMATIONS);
    return standing.tagged && standing.depth >= (own ?? 0);
  }

  /** Blocks on top of the highest one of the chain that the rule of the chain may have made final. */
  openBlocks(canonical: readonly ModelBlock[]): number {
    return canonical.length - 1 - canonical.findLastIndex(({ hash }) => this.wasFinal(hash));
  }
}

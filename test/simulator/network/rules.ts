import type { FinalityTag } from '../../../src/modules/chain/index.js';
import type { Random } from '../random.js';

/** What a seed decides about its world once, as an operator and a chain do before the first block. */
export interface Rules {
  /** `confirmations.finality` of every node. */
  readonly finality: 'depth' | FinalityTag;
  /** `chains[].fees.maxFeePerGas` of every node, wei per gas; null: as by default. */
  readonly maxFeePerGas: bigint | null;
  /** Whether reorgs take back what was final. */
  readonly deepReorgs: boolean;
}

const GWEI = 1_000_000_000n;

/** What the config says when a seed decides nothing. */
export const USUAL: Rules = { finality: 'depth', maxFeePerGas: null, deepReorgs: false };

export function drawRules(random: Random): Rules {
  return {
    finality: random.weighted([
      { weight: 3, value: 'depth' },
      { weight: 1, value: 'safe' },
      { weight: 1, value: 'finalized' },
    ] as const),
    maxFeePerGas: random.pick([null, null, 3n * GWEI, 6n * GWEI, 20n * GWEI]),
    deepReorgs: random.chance(0.45),
  };
}

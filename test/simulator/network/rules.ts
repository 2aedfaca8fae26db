import type { FinalityTag } from '../../../src/modules/chain/index.js';
import { Random } from '../random.js';
import { drawRoom, type PoolRoom, ROOMY } from './pool-room.js';

/** What a seed decides about its world once, as an operator and a chain do before the first block. */
export interface Rules {
  /** `confirmations.finality` of every node. */
  readonly finality: 'depth' | FinalityTag;
  /** `chains[].fees.maxFeePerGas` of every node, wei per gas; null: as by default. */
  readonly maxFeePerGas: bigint | null;
  /** `chains[].fees.maxPriorityFeePerGas` of every node, wei per gas: the hasty may want more; null: as by default. */
  readonly maxTip: bigint | null;
  /** Whether reorgs take back what was final. */
  readonly deepReorgs: boolean;
  /** Whether some requests name their prices. */
  readonly namedPrices: boolean;
  /** The base fee doubles from block to block when it rises, as on some rollups. */
  readonly steepFees: boolean;
  /** What the pools have room for that have little. */
  readonly room: PoolRoom;
  readonly shortOfRoom: 'nobody' | 'one endpoint' | 'everybody';
}

const GWEI = 1_000_000_000n;

/** What the config says when a seed decides nothing. */
export const USUAL: Rules = {
  finality: 'depth',
  maxFeePerGas: null,
  maxTip: null,
  deepReorgs: false,
  namedPrices: false,
  steepFees: false,
  room: ROOMY,
  shortOfRoom: 'nobody',
};

/** So that what else a seed says does not depend on its prices and pools. */
const SALT = 0x706f6f6c;
const TIP_SALT = 0x74697073;

export function drawRules(random: Random, seed: number): Rules {
  const ofPools = new Random(seed ^ SALT);
  return {
    finality: random.weighted([
      { weight: 3, value: 'depth' },
      { weight: 1, value: 'safe' },
      { weight: 1, value: 'finalized' },
    ] as const),
    maxFeePerGas: random.pick([null, null, 3n * GWEI, 6n * GWEI, 20n * GWEI]),
    deepReorgs: random.chance(0.45),
    maxTip: new Random(seed ^ TIP_SALT).pick([null, null, null, 5n * GWEI]),
    namedPrices: ofPools.chance(0.5),
    steepFees: ofPools.chance(0.5),
    shortOfRoom: ofPools.pick(['nobody', 'nobody', 'one endpoint', 'everybody']),
    room: drawRoom(ofPools),
  };
}

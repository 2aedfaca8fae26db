import { type ChainInForce, maxLagOf, pollIntervalOf } from '../../../config/index.js';
import type { ProbedChain } from '../domain/probed-chain.js';

/** A profile is rounded, and blocks come late at times: less than this is no difference. */
const BLOCK_TIME_FACTOR = 3;

export interface ProfileDifference {
  readonly field: keyof ChainInForce;
  readonly inForce: string | number;
  readonly shown: string | number;
}

/** What would make Lockstep price, poll or wait for the wrong thing. */
export function differencesOf(chain: ChainInForce, probed: ProbedChain): ProfileDifference[] {
  const { feeType, blockTimeMs, finality, l1DataFee } = chain;
  const differences: ProfileDifference[] = [];
  if (feeType.value !== null && feeType.value !== probed.feeType)
    differences.push({ field: 'feeType', inForce: feeType.value, shown: probed.feeType });
  if (blockTimeMs.value !== null && probed.blockTimeMs !== null && isFar(blockTimeMs.value, probed.blockTimeMs))
    differences.push({ field: 'blockTimeMs', inForce: blockTimeMs.value, shown: probed.blockTimeMs });
  if (finality.value !== 'depth' && !probed.tags.includes(finality.value))
    differences.push({ field: 'finality', inForce: finality.value, shown: `tags: ${list(probed.tags)}` });
  if (l1DataFee.value === 'optimism' && !probed.hasDataFeeOracle)
    differences.push({ field: 'l1DataFee', inForce: l1DataFee.value, shown: 'no GasPriceOracle' });
  return differences;
}

/** For the entry of the chain in the config. */
export function configLinesOf(probed: ProbedChain): string[] {
  const { blockTimeMs, feeType, tags, takesBatches, missingMethods, hasDataFeeOracle } = probed;
  const blockTime = blockTimeMs === null ? 'not known' : `${blockTimeMs} ms`;
  return [
    `# block time: ${blockTime}; fees: ${feeType}; tags: ${list(tags)}; batches: ${takesBatches ? 'yes' : 'no'}; missing methods: ${list(missingMethods)}`,
    ...(blockTimeMs === null
      ? []
      : [`pollInterval: ${pollIntervalOf(blockTimeMs)}ms`, `maxLag: ${maxLagOf(blockTimeMs)}`]),
    tags.includes('finalized') ? 'confirmations: { finality: finalized }' : 'confirmations: { finality: depth }',
    `l1DataFee: ${hasDataFeeOracle ? 'optimism' : 'none'}`,
  ];
}

function isFar(one: number, other: number): boolean {
  return Math.max(one, other) > BLOCK_TIME_FACTOR * Math.min(one, other);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

import type { FinalityTag } from './chain-connector.js';

/** What an endpoint showed of its chain. */
export interface ProbedChain {
  /** Milliseconds, over up to a hundred blocks; null when the chain is too young to tell. */
  readonly blockTimeMs: number | null;
  readonly feeType: 'eip1559' | 'legacy';
  readonly tags: readonly FinalityTag[];
  /** Whether every endpoint takes several calls in one request. */
  readonly takesBatches: boolean;
  /** Of the methods that Lockstep asks for where they exist. */
  readonly missingMethods: readonly string[];
  /** The `GasPriceOracle` of the OP stack. */
  readonly hasDataFeeOracle: boolean;
}

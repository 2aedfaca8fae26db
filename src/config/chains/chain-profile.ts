import type { L1DataFee } from '../sections/chain-config.js';
import type { FinalityMode } from '../sections/settlement-config.js';

/** `eip1559`: blocks have a base fee. `legacy`: they have none, and a transaction has one gas price. */
export type FeeType = 'eip1559' | 'legacy';

/** A value, and where it was read or why it was chosen. */
export type Sourced<T> = readonly [value: T, source: string];

/** What is known of a chain. Null is "none", or "not known" where the source says so. */
export interface ChainProfile {
  readonly id: number;
  readonly name: Sourced<string>;
  readonly nativeSymbol: Sourced<string>;
  readonly explorer: Sourced<string>;
  readonly blockTimeMs: Sourced<number>;
  /** The tag that makes a block final, or the number of blocks on top. */
  readonly finality: Sourced<Exclude<FinalityMode, 'depth'> | number>;
  /** Wei per gas; left out where the default is enough. */
  readonly minPriorityFeePerGas?: Sourced<bigint>;
  readonly feeType: Sourced<FeeType>;
  readonly l1DataFee: Sourced<L1DataFee>;
  /** The most gas that one transaction may ask for. */
  readonly transactionGasCap: Sourced<number | null>;
  /** Transactions of an account that its nodes take at once, where that is less than the default. */
  readonly inFlightStart?: Sourced<number>;
  /** EIP-4844. */
  readonly blobs: Sourced<boolean | null>;
  /** EIP-7702. */
  readonly authorizations: Sourced<boolean | null>;
}

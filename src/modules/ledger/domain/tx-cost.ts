import type { AttemptFees } from './attempt.js';

/** EIP-4844. */
export const GAS_PER_BLOB = 131_072n;

/** What a tx takes from the balance of its signer, or several txs of the same price together. */
export interface TxAmounts {
  /** Wei. */
  readonly value: bigint;
  readonly gas: bigint;
  readonly blobs: bigint;
}

/** The most wei that it can take. What a rollup charges for its data on L1 is not in it. */
export function costOf(
  { value, gas, blobs }: TxAmounts,
  { maxFeePerGas, maxFeePerBlobGas = 0n }: Pick<AttemptFees, 'maxFeePerGas' | 'maxFeePerBlobGas'>,
): bigint {
  return value + gas * maxFeePerGas + blobs * GAS_PER_BLOB * maxFeePerBlobGas;
}

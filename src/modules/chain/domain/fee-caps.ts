/** The most that a transaction may offer, whether its client or Lockstep chose the fees, and no-ops included. Wei per gas. */
export interface FeeCaps {
  /** Also of a gas price. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Wei per blob gas (EIP-4844). */
  readonly maxFeePerBlobGas: bigint;
}

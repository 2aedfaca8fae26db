/** What a chain's config lets any transaction offer, a client's own fees and no-ops included. Wei per gas. */
export interface FeeCaps {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

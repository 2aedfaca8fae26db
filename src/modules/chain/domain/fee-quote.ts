/** How soon a transaction should be mined: each speed is a percentile of the tips paid in recent blocks. */
export const SPEEDS = ['slow', 'standard', 'fast', 'urgent'] as const;
export type Speed = (typeof SPEEDS)[number];

/** The base fee and tips as of one head block. Wei per gas. */
export interface FeeQuote {
  readonly blockNumber: number;
  /** False on a chain without EIP-1559: its transactions have one gas price, `baseFeePerGas` is 0, and each tip is a whole gas price. */
  readonly hasBaseFee: boolean;
  /** Base fee of the next block. */
  readonly baseFeePerGas: bigint;
  readonly tips: Readonly<Record<Speed, bigint>>;
  /** 90th percentile of the tips paid in recent blocks: a transaction that pays it and is not mined does not wait because of its price. */
  readonly congestedTip: bigint;
  /** Wei per blob gas (EIP-4844) of the next block; null where the chain has no blobs. */
  readonly blobBaseFee: bigint | null;
}

/** Whether gas is free on its chain (docs/invariants.md, K5). Then accounts may be empty. */
export function isFree({ baseFeePerGas, tips }: FeeQuote): boolean {
  return baseFeePerGas === 0n && tips.urgent === 0n;
}

/** The most that a transaction may offer, whether its client or Lockstep chose the fees, and no-ops included. Wei per gas. */
export interface FeeCaps {
  /** Also of a gas price. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Wei per blob gas (EIP-4844). */
  readonly maxFeePerBlobGas: bigint;
}

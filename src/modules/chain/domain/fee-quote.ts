/** How soon a transaction should be mined: each speed is a percentile of the tips paid in recent blocks. */
export const SPEEDS = ['slow', 'standard', 'fast', 'urgent'] as const;
export type Speed = (typeof SPEEDS)[number];

/** The base fee and tips as of one head block. Wei per gas. */
export interface FeeQuote {
  readonly blockNumber: number;
  /** Base fee of the next block. */
  readonly baseFeePerGas: bigint;
  readonly tips: Readonly<Record<Speed, bigint>>;
}

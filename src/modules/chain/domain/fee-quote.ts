/** How much a sender wants to be mined soon: a percentile of the tips that recent blocks paid. */
export const SPEEDS = ['slow', 'standard', 'fast', 'urgent'] as const;
export type Speed = (typeof SPEEDS)[number];

/** The market as of one head block. Wei per gas. */
export interface FeeQuote {
  readonly blockNumber: number;
  /** Base fee of the next block. */
  readonly baseFeePerGas: bigint;
  readonly tips: Readonly<Record<Speed, bigint>>;
}

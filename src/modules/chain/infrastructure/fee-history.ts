import { fields, list, MalformedAnswer, quantity, smallNumber } from './parse-answer.js';

/** How many blocks a quote is made from. */
export const FEE_HISTORY_BLOCKS = 20;
/** Percentiles of the tips in a block, weighted by gas: those of the speeds, and the one above which a chain is congested. */
export const TIP_PERCENTILES = { slow: 10, standard: 50, fast: 75, congested: 90, urgent: 95 } as const;
const PERCENTILES = Object.keys(TIP_PERCENTILES) as (keyof typeof TIP_PERCENTILES)[];

/** A median of tips for each percentile; null where no recent block had a transaction. Wei per gas. */
export type MedianTips = Readonly<Record<keyof typeof TIP_PERCENTILES, bigint>>;

/** The parsed answer of `eth_feeHistory`. Wei per gas. */
export interface FeeHistory {
  readonly newestBlock: number;
  /** Base fee of the block after the newest: the last element of `baseFeePerGas`. Nodes answer 0 on a chain without a base fee. */
  readonly nextBaseFee: bigint;
  /** Wei per blob gas of the block after the newest; null where the chain has no blobs. */
  readonly nextBlobBaseFee: bigint | null;
  readonly tips: MedianTips | null;
}

/** @throws MalformedAnswer */
export function parseFeeHistory(value: unknown): FeeHistory {
  const raw = fields(value, 'feeHistory');
  const oldest = smallNumber(raw['oldestBlock'], 'oldestBlock');
  const ratios = list(raw['gasUsedRatio'], 'gasUsedRatio').map(Number);
  const baseFees = list(raw['baseFeePerGas'], 'baseFeePerGas');
  if (ratios.length === 0 || baseFees.length !== ratios.length + 1)
    throw new MalformedAnswer('baseFeePerGas', 'one longer than gasUsedRatio');
  return {
    newestBlock: oldest + ratios.length - 1,
    nextBaseFee: quantity(baseFees.at(-1), 'baseFeePerGas[]'),
    nextBlobBaseFee: nextBlobBaseFee(raw['baseFeePerBlobGas']),
    tips: medianTips(raw['reward'], ratios),
  };
}

/** EIP-4844: the fee of a blob is at least 1 wei. Nodes answer 0, or nothing, for a chain without blobs. */
function nextBlobBaseFee(value: unknown): bigint | null {
  if (value === null || value === undefined) return null;
  const fee = quantity(list(value, 'baseFeePerBlobGas').at(-1), 'baseFeePerBlobGas[]');
  return fee === 0n ? null : fee;
}

/** Medians over the blocks that had transactions: one mad block has no say. For an empty block the node answers 0, which is no price. */
function medianTips(value: unknown, ratios: readonly number[]): MedianTips | null {
  const rewards = value === null || value === undefined ? [] : list(value, 'reward');
  const used = rewards.filter((_, i) => (ratios[i] ?? 0) > 0).map((reward) => list(reward, 'reward[]'));
  if (used.length === 0) return null;
  const medians = PERCENTILES.map((name, i): [string, bigint] => [
    name,
    median(used.map((reward) => quantity(reward[i], 'reward[][]'))),
  ]);
  return Object.fromEntries(medians) as MedianTips;
}

/** The upper of the two middle values. */
function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? 0n;
}

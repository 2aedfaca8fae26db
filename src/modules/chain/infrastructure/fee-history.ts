import { SPEEDS, type FeeQuote, type Speed } from '../domain/fee-quote.js';
import { fields, list, MalformedAnswer, quantity, smallNumber } from './parse-answer.js';

/** How many blocks a quote is made from. */
export const FEE_HISTORY_BLOCKS = 20;
/** Percentiles of the tips in a block, weighted by gas, in the order of {@link SPEEDS}. */
export const TIP_PERCENTILES: readonly number[] = [10, 50, 75, 95];

/** The parsed answer of `eth_feeHistory`. Wei per gas. */
export interface FeeHistory {
  readonly newestBlock: number;
  /** Base fee of the block after the newest: the last element of `baseFeePerGas`. */
  readonly nextBaseFee: bigint;
  /** Per percentile, the tips of the blocks that had transactions. For an empty block the node answers 0, which is not a price. */
  readonly tips: readonly (readonly bigint[])[];
}

/** @throws MalformedAnswer */
export function parseFeeHistory(value: unknown): FeeHistory {
  const raw = fields(value, 'feeHistory');
  const oldest = smallNumber(raw['oldestBlock'], 'oldestBlock');
  const ratios = list(raw['gasUsedRatio'], 'gasUsedRatio').map(Number);
  const baseFees = list(raw['baseFeePerGas'], 'baseFeePerGas');
  if (ratios.length === 0 || baseFees.length !== ratios.length + 1)
    throw new MalformedAnswer('baseFeePerGas', 'one longer than gasUsedRatio');
  const rewards = raw['reward'] === null || raw['reward'] === undefined ? [] : list(raw['reward'], 'reward');
  const used = rewards.filter((_, i) => (ratios[i] ?? 0) > 0).map((reward) => list(reward, 'reward[]'));
  return {
    newestBlock: oldest + ratios.length - 1,
    nextBaseFee: quantity(baseFees.at(-1), 'baseFeePerGas[]'),
    tips: TIP_PERCENTILES.map((_, i) => used.map((reward) => quantity(reward[i], 'reward[][]'))),
  };
}

/**
 * Tips are medians over the blocks that had transactions; when there was none, the tip that the node suggests. Never below `minTip`,
 * and never lower for a faster speed.
 */
export function quoteFrom(history: FeeHistory, suggestedTip: bigint | null, minTip: bigint): FeeQuote {
  let floor = minTip;
  const tipOf = (speed: Speed): bigint => {
    const tip = median(history.tips[SPEEDS.indexOf(speed)] ?? []) ?? suggestedTip ?? minTip;
    floor = tip > floor ? tip : floor;
    return floor;
  };
  const tips = { slow: tipOf('slow'), standard: tipOf('standard'), fast: tipOf('fast'), urgent: tipOf('urgent') };
  return { blockNumber: history.newestBlock, baseFeePerGas: history.nextBaseFee, tips };
}

/** The upper of the two middle values; null for an empty list. */
function median(values: readonly bigint[]): bigint | null {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

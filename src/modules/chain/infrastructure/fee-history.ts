import { highestNextBaseFee } from '../../../kernel/quantities.js';
import { fields, informed, list, MalformedAnswer, quantity, smallNumber } from './parse-answer.js';

/** How many blocks a quote is made from. */
export const FEE_HISTORY_BLOCKS = 20;
/** Percentiles of the tips in a block, weighted by gas: those of the speeds, and the one above which a chain is congested. */
export const TIP_PERCENTILES = { slow: 10, standard: 50, fast: 75, congested: 90, urgent: 95 } as const;
const PERCENTILES = Object.keys(TIP_PERCENTILES) as (keyof typeof TIP_PERCENTILES)[];

/** A median of tips for each percentile; null where no recent block had a transaction. Wei per gas. */
export type MedianTips = Readonly<Record<keyof typeof TIP_PERCENTILES, bigint>>;

/** The parsed answer of `eth_feeHistory`. Wei per gas. What a node does not tell, or in another form, is null (docs/invariants.md, K1). */
export interface FeeHistory {
  readonly newestBlock: number;
  /** Base fee of the block after the newest. Nodes answer 0 on a chain without a base fee. */
  readonly nextBaseFee: bigint | null;
  /** Wei per blob gas of the block after the newest; null also where the chain has no blobs. */
  readonly nextBlobBaseFee: bigint | null;
  readonly tips: MedianTips | null;
}

/** @throws MalformedAnswer without the heights of its blocks */
export function parseFeeHistory(value: unknown): FeeHistory {
  const raw = fields(value, 'feeHistory');
  const oldest = smallNumber(raw['oldestBlock'], 'oldestBlock');
  const ratios = list(raw['gasUsedRatio'], 'gasUsedRatio').map(Number);
  if (ratios.length === 0) throw new MalformedAnswer('gasUsedRatio', 'a list of blocks');
  return {
    newestBlock: oldest + ratios.length - 1,
    nextBaseFee: nextBaseFee(raw['baseFeePerGas'], ratios.length),
    nextBlobBaseFee: nextBlobBaseFee(raw['baseFeePerBlobGas']),
    tips: medianTips(raw['reward'], ratios),
  };
}

/** The last element, where there is one more than blocks. Some nodes leave it out: then the fee may be an eighth above that of the newest. */
function nextBaseFee(value: unknown, blocks: number): bigint | null {
  const fees = Array.isArray(value) ? value : [];
  const last = informed(fees.at(-1), 'baseFeePerGas[]', quantity);
  if (last === null || fees.length < blocks) return null;
  return fees.length === blocks ? highestNextBaseFee(last) : last;
}

/** EIP-4844: the fee of a blob is at least 1 wei. Nodes answer 0, or nothing, for a chain without blobs. */
function nextBlobBaseFee(value: unknown): bigint | null {
  const fee = Array.isArray(value) ? informed(value.at(-1), 'baseFeePerBlobGas[]', quantity) : null;
  return fee === 0n ? null : fee;
}

/** Medians over the blocks that had transactions: one mad block has no say. For an empty block the node answers 0, which is no price. */
function medianTips(value: unknown, ratios: readonly number[]): MedianTips | null {
  const rewards: readonly unknown[] = Array.isArray(value) ? value : [];
  const used = rewards.flatMap((reward, i): bigint[][] => {
    const tips = (Array.isArray(reward) ? reward : []).map((tip) => informed(tip, 'reward[][]', quantity));
    const told = tips.filter((tip) => tip !== null);
    return (ratios[i] ?? 0) > 0 && told.length === PERCENTILES.length && told.length === tips.length ? [told] : [];
  });
  if (used.length === 0) return null;
  const medians = PERCENTILES.map((name, i): [string, bigint] => [name, median(used.map((tips) => tips[i] ?? 0n))]);
  return Object.fromEntries(medians) as MedianTips;
}

/** The upper of the two middle values. */
function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? 0n;
}

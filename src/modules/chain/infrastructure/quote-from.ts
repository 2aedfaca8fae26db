import { highestNextBaseFee, maxOf } from '../../../kernel/quantities.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import type { BlockHeader } from '../domain/block.js';
import type { FeeHistory, MedianTips } from './fee-history.js';

/**
 * Percent of `eth_gasPrice` for each speed, on a chain whose nodes do not tell what recent blocks paid. A node answers with about the 60th
 * percentile, and wallets and relayers add a tenth to a third for more speed.
 */
const PERCENT_OF_GAS_PRICE = { slow: 100n, standard: 110n, fast: 120n, congested: 120n, urgent: 130n } as const;

/** What one endpoint of a chain that seems to have no base fee, or no `eth_feeHistory`, answered; null for what it did not answer. */
export interface PlainAnswers {
  readonly history: FeeHistory | null;
  readonly gasPrice: bigint | null;
  readonly head: BlockHeader | null;
  /** `eth_maxPriorityFeePerGas`. */
  readonly suggestion: bigint | null;
  /** Whether it did not answer about one of the two prices: an error is an answer. */
  readonly isSilent: boolean;
}

/** A history that tells the base fee of the next block. */
interface WithBaseFee {
  readonly nextBaseFee: bigint;
}

export function tellsBaseFee(history: FeeHistory): history is FeeHistory & WithBaseFee {
  return history.nextBaseFee !== null;
}

/** When no recent block had a transaction, the tip that the node suggests. Never below `minTip`, and never lower for a faster speed. */
export function quoteFrom(history: FeeHistory & WithBaseFee, suggestedTip: bigint | null, minTip: bigint): FeeQuote {
  return {
    blockNumber: history.newestBlock,
    hasBaseFee: true,
    baseFeePerGas: history.nextBaseFee,
    ...pricesFrom(history.tips ?? scaled(suggestedTip ?? minTip), minTip),
    blobBaseFee: history.nextBlobBaseFee,
  };
}

/**
 * Any of the answers may be missing, as long as one tells a price (docs/invariants.md, K1). Only a header shows whether a chain has a base fee:
 * `eth_feeHistory` answers 0 for a chain without one, and for one whose base fee is 0.
 *
 * @returns null when the endpoint did not answer enough
 */
export function plainQuoteFrom(answers: PlainAnswers, minTip: bigint): FeeQuote | null {
  const { history, gasPrice, head, suggestion, isSilent } = answers;
  const newestBlock = history?.newestBlock ?? head?.number;
  const nextBaseFee = nextBaseFeeIn(answers);
  if (newestBlock === undefined) return null;
  // Gas is free (docs/invariants.md, K5): what some paid all the same is no price, and an empty account could not pay the least tip.
  if (gasPrice === 0n && !nextBaseFee) return freeQuote(newestBlock, nextBaseFee !== null);
  if (nextBaseFee !== null) {
    const { tips = null, nextBlobBaseFee = null } = history ?? {};
    // The gas price that a node suggests is its base fee and a tip.
    const above = gasPrice === null ? null : maxOf(0n, gasPrice - (head?.baseFeePerGas ?? nextBaseFee));
    const tip = suggestion ?? above;
    if (tips === null && tip === null && isSilent) return null;
    return quoteFrom({ newestBlock, nextBaseFee, nextBlobBaseFee, tips }, tip, minTip);
  }
  const price = gasPrice ?? suggestion;
  const prices = history?.tips ?? (price === null ? null : scaled(price, PERCENT_OF_GAS_PRICE));
  if (head === null || prices === null) return null;
  return {
    blockNumber: newestBlock,
    hasBaseFee: false,
    baseFeePerGas: 0n,
    ...pricesFrom(prices, minTip),
    blobBaseFee: null,
  };
}

function freeQuote(blockNumber: number, hasBaseFee: boolean): FeeQuote {
  return { blockNumber, hasBaseFee, baseFeePerGas: 0n, ...pricesFrom(scaled(0n), 0n), blobBaseFee: null };
}

/** Null on a chain that has none, as far as this endpoint tells. After a block with a base fee there is one: a history of zeros is none. */
function nextBaseFeeIn({ history, head }: PlainAnswers): bigint | null {
  const ofHead = head?.baseFeePerGas ?? null;
  const told = history?.nextBaseFee ?? null;
  if (told !== null && (told > 0n || ofHead === 0n)) return told;
  return ofHead === null ? null : highestNextBaseFee(ofHead);
}

function pricesFrom(medians: MedianTips, minTip: bigint): Pick<FeeQuote, 'tips' | 'congestedTip'> {
  let floor = minTip;
  const atLeast = (tip: bigint): bigint => (floor = tip > floor ? tip : floor);
  const [slow, standard, fast] = [atLeast(medians.slow), atLeast(medians.standard), atLeast(medians.fast)];
  const congestedTip = atLeast(medians.congested);
  return { tips: { slow, standard, fast, urgent: atLeast(medians.urgent) }, congestedTip };
}

function scaled(price: bigint, percent: MedianTips = ALL_OF_IT): MedianTips {
  const part = (of: bigint): bigint => (price * of) / 100n;
  const { slow, standard, fast, congested, urgent } = percent;
  return {
    slow: part(slow),
    standard: part(standard),
    fast: part(fast),
    congested: part(congested),
    urgent: part(urgent),
  };
}

const ALL_OF_IT: MedianTips = { slow: 100n, standard: 100n, fast: 100n, congested: 100n, urgent: 100n };

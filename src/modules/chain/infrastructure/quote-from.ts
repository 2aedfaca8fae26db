import { maxOf } from '../../../kernel/quantities.js';
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
}

/** When no recent block had a transaction, the tip that the node suggests. Never below `minTip`, and never lower for a faster speed. */
export function quoteFrom(history: FeeHistory, suggestedTip: bigint | null, minTip: bigint): FeeQuote {
  return {
    blockNumber: history.newestBlock,
    hasBaseFee: true,
    baseFeePerGas: history.nextBaseFee,
    ...pricesFrom(history.tips ?? scaled(suggestedTip ?? minTip), minTip),
    blobBaseFee: history.nextBlobBaseFee,
  };
}

/**
 * Only a header shows whether a chain has a base fee: `eth_feeHistory` answers 0 for a chain without one, and for one whose base fee is 0.
 *
 * @returns null when the endpoint did not answer enough
 */
export function plainQuoteFrom({ history, gasPrice, head, suggestion }: PlainAnswers, minTip: bigint): FeeQuote | null {
  // With a base fee of 0 the gas price that a node suggests is a tip.
  const headHasBaseFee = head !== null && head.baseFeePerGas !== null;
  if (history === null && headHasBaseFee)
    return headQuote(head.number, head.baseFeePerGas, suggestion, gasPrice, minTip);
  if (history !== null && (history.nextBaseFee > 0n || headHasBaseFee)) return quoteFrom(history, gasPrice, minTip);
  const prices = history?.tips ?? (gasPrice === null ? null : scaled(gasPrice, PERCENT_OF_GAS_PRICE));
  if (head === null || headHasBaseFee || prices === null) return null;
  return {
    blockNumber: history?.newestBlock ?? head.number,
    hasBaseFee: false,
    baseFeePerGas: 0n,
    ...pricesFrom(prices, minTip),
    blobBaseFee: null,
  };
}

/**
 * Without `eth_feeHistory`. The base fee of the next block is at most an eighth higher (EIP-1559), and the gas price that a node suggests
 * is its base fee and a tip. Null when the node suggests nothing.
 */
function headQuote(
  blockNumber: number,
  baseFee: bigint,
  suggestion: bigint | null,
  gasPrice: bigint | null,
  minTip: bigint,
): FeeQuote | null {
  const tip = suggestion ?? (gasPrice === null ? null : maxOf(0n, gasPrice - baseFee));
  if (tip === null) return null;
  const newestBlock = blockNumber;
  const nextBaseFee = (baseFee * 9n + 7n) / 8n;
  return quoteFrom({ newestBlock, nextBaseFee, nextBlobBaseFee: null, tips: null }, tip, minTip);
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

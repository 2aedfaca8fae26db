import type { FeeCaps, FeeQuote, Speed } from '../../chain/index.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { AttemptFees, TxRequest } from '../../transactions/index.js';

type PricedRequest = Pick<TxRequest, 'fees' | 'speed'>;

/** The request of a no-op, which has no client. */
export function atMarket(speed: Speed): PricedRequest {
  return { fees: { maxFeePerGas: null, maxPriorityFeePerGas: null }, speed };
}

/**
 * EIP-1559 fees of a first attempt: fee cap = 2 x base fee + tip, so that it is still valid after six full blocks in a row. Fees of the
 * client replace these, up to the caps of the chain. The tip is never above the fee cap, because a node refuses that.
 */
export function initialFees(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): AttemptFees {
  const tip = minOf(request.fees.maxPriorityFeePerGas ?? quote.tips[request.speed], caps.maxPriorityFeePerGas);
  const maxFeePerGas = minOf(request.fees.maxFeePerGas ?? 2n * quote.baseFeePerGas + tip, caps.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(tip, maxFeePerGas) };
}

/** Why the market is too expensive for a request now; null when it is not. Such a request gets no nonce. */
export function tooExpensive(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): string | null {
  const { maxFeePerGas, maxPriorityFeePerGas } = request.fees;
  const own = maxFeePerGas === null ? null : minOf(maxFeePerGas, caps.maxFeePerGas);
  if (own !== null && own < quote.baseFeePerGas)
    return `maxFeePerGas ${own} is below the base fee ${quote.baseFeePerGas}`;
  if (caps.maxFeePerGas < quote.baseFeePerGas)
    return `the base fee ${quote.baseFeePerGas} is above fees.maxFeePerGas ${caps.maxFeePerGas} of the chain`;
  const tip = maxPriorityFeePerGas ?? quote.tips[request.speed];
  if (tip > caps.maxPriorityFeePerGas)
    return `the tip ${tip} is above fees.maxPriorityFeePerGas ${caps.maxPriorityFeePerGas} of the chain`;
  return null;
}

/**
 * Fees that a pool accepts for another transaction at the same nonce: both prices an eighth higher (geth requires 10 %), and not below the
 * market. Null when they are above the caps of the chain.
 */
export function bumpedFees(previous: AttemptFees, market: AttemptFees, caps: FeeCaps): AttemptFees | null {
  const maxFeePerGas = maxOf(raised(previous.maxFeePerGas), market.maxFeePerGas);
  const maxPriorityFeePerGas = maxOf(raised(previous.maxPriorityFeePerGas), market.maxPriorityFeePerGas);
  const fits = maxFeePerGas <= caps.maxFeePerGas && maxPriorityFeePerGas <= caps.maxPriorityFeePerGas;
  return fits ? { maxFeePerGas, maxPriorityFeePerGas } : null;
}

/**
 * Lower fees for nodes that limit the cost of all the gas of a transaction (geth: `--rpc.txfeecap`): the highest that fit, and enough for
 * the next block, whose base fee is at most an eighth higher. Null when not even that fits.
 */
export function feesWithin(maxTxFee: bigint, gasLimit: bigint, fees: AttemptFees, quote: FeeQuote): AttemptFees | null {
  const maxFeePerGas = minOf(fees.maxFeePerGas, maxTxFee / gasLimit);
  if (maxFeePerGas >= fees.maxFeePerGas) return fees;
  if (maxFeePerGas < minOf(raised(quote.baseFeePerGas), fees.maxFeePerGas)) return null;
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(fees.maxPriorityFeePerGas, maxFeePerGas) };
}

/** ceil(x * 1.125) */
function raised(price: bigint): bigint {
  return (price * 9n + 7n) / 8n;
}

import type { FeeQuote } from '../../chain/index.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { AttemptFees } from './attempt.js';
import type { TxRequest } from './tx-request.js';

/**
 * EIP-1559 fees of a first attempt: fee cap = 2 x base fee + tip, so that it survives six full blocks in a row; what the
 * client said wins; the chain's cap limits what we choose ourselves. The tip is never above the fee cap (a node refuses that).
 */
export function initialFees(
  request: Pick<TxRequest, 'fees' | 'speed'>,
  quote: FeeQuote,
  cap: bigint | null,
): AttemptFees {
  const tip = request.fees.maxPriorityFeePerGas ?? quote.tips[request.speed];
  const market = 2n * quote.baseFeePerGas + tip;
  const maxFeePerGas = request.fees.maxFeePerGas ?? (cap === null ? market : minOf(market, cap));
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(tip, maxFeePerGas) };
}

/**
 * Fees that a pool accepts for another transaction at the same nonce: both prices raised by an eighth (geth asks for 10 %), and
 * not below the market.
 */
export function bumpedFees(previous: AttemptFees, market: AttemptFees): AttemptFees {
  return {
    maxFeePerGas: maxOf(raised(previous.maxFeePerGas), market.maxFeePerGas),
    maxPriorityFeePerGas: maxOf(raised(previous.maxPriorityFeePerGas), market.maxPriorityFeePerGas),
  };
}

/** ceil(x * 1.125) */
function raised(price: bigint): bigint {
  return (price * 9n + 7n) / 8n;
}

import type { FeeCaps, FeeQuote, Speed } from '../../chain/index.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import { NO_FEES } from '../../transactions/domain/index.js';
import type { AttemptFees, TxRequest } from '../../transactions/index.js';

type PricedRequest = Pick<TxRequest, 'fees' | 'speed'>;

/** The request of a no-op, which has no client. */
export function atMarket(speed: Speed): PricedRequest {
  return { fees: NO_FEES, speed };
}

/**
 * Fees of a first attempt. EIP-1559: fee cap = 2 x base fee + tip, so that it is still valid after six full blocks in a row. Fees of the
 * client replace these, up to the caps. The tip is never above the fee cap, because a node refuses that. Where there is one gas price,
 * both are this price.
 */
export function initialFees(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): AttemptFees {
  if (hasOnePrice(request, quote)) return onePrice(minOf(gasPriceOf(request, quote), caps.maxFeePerGas));
  const tip = minOf(tipOf(request, quote), caps.maxPriorityFeePerGas);
  const maxFeePerGas = minOf(request.fees.maxFeePerGas ?? 2n * quote.baseFeePerGas + tip, caps.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(tip, maxFeePerGas) };
}

/** Why the market is too expensive for a request now; null when it is not. Such a request gets no nonce. */
export function tooExpensive(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): string | null {
  const name = request.fees.gasPrice === null ? 'maxFeePerGas' : 'gasPrice';
  const asked = request.fees[name];
  const own = asked === null ? null : minOf(asked, caps.maxFeePerGas);
  if (own !== null && own < quote.baseFeePerGas) return `${name} ${own} is below the base fee ${quote.baseFeePerGas}`;
  if (caps.maxFeePerGas < quote.baseFeePerGas)
    return `the base fee ${quote.baseFeePerGas} is above fees.maxFeePerGas ${caps.maxFeePerGas} of the chain`;
  if (hasOnePrice(request, quote)) {
    const price = gasPriceOf(request, quote);
    return price > caps.maxFeePerGas
      ? `the gas price ${price} is above fees.maxFeePerGas ${caps.maxFeePerGas} of the chain`
      : null;
  }
  const tip = tipOf(request, quote);
  if (tip > caps.maxPriorityFeePerGas)
    return `the tip ${tip} is above fees.maxPriorityFeePerGas ${caps.maxPriorityFeePerGas} of the chain`;
  return null;
}

/** The client chose a gas price, or the chain has nothing else. */
function hasOnePrice({ fees }: PricedRequest, { hasBaseFee }: FeeQuote): boolean {
  return fees.gasPrice !== null || !hasBaseFee;
}

/** What EIP-1559 fees of the client mean without a base fee: the tip, and at most the fee cap. */
function gasPriceOf(request: PricedRequest, quote: FeeQuote): bigint {
  const { gasPrice, maxFeePerGas } = request.fees;
  const price = gasPrice ?? tipOf(request, quote);
  return gasPrice === null && maxFeePerGas !== null ? minOf(price, maxFeePerGas) : price;
}

function tipOf({ fees, speed }: PricedRequest, { tips }: FeeQuote): bigint {
  return fees.maxPriorityFeePerGas ?? tips[speed];
}

function onePrice(price: bigint): AttemptFees {
  return { maxFeePerGas: price, maxPriorityFeePerGas: price };
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

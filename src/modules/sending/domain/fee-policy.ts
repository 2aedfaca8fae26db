import type { FeeCaps, FeeQuote, Speed } from '../../chain/index.js';
import { highestNextBaseFee, minOf } from '../../../kernel/quantities.js';
import { NO_FEES } from '../../ledger/domain/index.js';
import type { AttemptFees, TxPayload, TxRequest, TxType } from '../../ledger/index.js';
import type { ChainId } from '../../../kernel/signer-id.js';

/** What the price of a payload depends on. */
export type PricedRequest = Pick<TxRequest, 'fees' | 'speed'> & {
  /** With blobs (EIP-4844) it has a blob fee, too. Absent of a no-op. */
  readonly payload?: Pick<TxPayload, 'blobHashes'>;
};

/** EIP-4844: blob gas never costs less. */
const MIN_BLOB_FEE = 1n;

/** The request of a no-op, which has no client. */
export function atMarket(speed: Speed, type: TxType = 2): PricedRequest {
  return { fees: NO_FEES, speed, ...(type === 3 && { payload: { blobHashes: [] } }) };
}

/**
 * Fees of a first attempt. EIP-1559: fee cap = 2 x base fee + tip, so that it is still valid after six full blocks in a row; blobs: twice
 * their base fee, for the same reason. Fees of the client replace these, up to the caps. The tip is never above the fee cap, because a
 * node refuses that. Where there is one gas price, both are this price.
 */
export function initialFees(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): AttemptFees {
  if (asksOnePrice(request, quote)) return onePrice(minOf(gasPriceOf(request, quote), caps.maxFeePerGas));
  const tip = minOf(tipOf(request, quote), caps.maxPriorityFeePerGas);
  const maxFeePerGas = minOf(request.fees.maxFeePerGas ?? 2n * quote.baseFeePerGas + tip, caps.maxFeePerGas);
  const fees = { maxFeePerGas, maxPriorityFeePerGas: minOf(tip, maxFeePerGas) };
  if (!request.payload?.blobHashes) return fees;
  const blobFee = request.fees.maxFeePerBlobGas ?? 2n * blobBaseFeeOf(quote);
  return { ...fees, maxFeePerBlobGas: minOf(blobFee, caps.maxFeePerBlobGas) };
}

/** Why the market is too expensive for a request now; null when it is not. Such a request gets no nonce. */
export function tooExpensive(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): string | null {
  return (
    baseFeeTooHigh(request, quote, caps) ??
    tipTooHigh(request, quote, caps) ??
    (request.payload?.blobHashes ? blobFeeTooHigh(request, quote, caps) : null)
  );
}

function baseFeeTooHigh({ fees }: PricedRequest, { baseFeePerGas }: FeeQuote, caps: FeeCaps): string | null {
  const name = fees.gasPrice === null ? 'maxFeePerGas' : 'gasPrice';
  const asked = fees[name];
  const own = asked === null ? null : minOf(asked, caps.maxFeePerGas);
  if (own !== null && own < baseFeePerGas) return `${name} ${own} is below the base fee ${baseFeePerGas}`;
  return aboveCap('base fee', baseFeePerGas, 'maxFeePerGas', caps);
}

function tipTooHigh(request: PricedRequest, quote: FeeQuote, caps: FeeCaps): string | null {
  return asksOnePrice(request, quote)
    ? aboveCap('gas price', gasPriceOf(request, quote), 'maxFeePerGas', caps)
    : aboveCap('tip', tipOf(request, quote), 'maxPriorityFeePerGas', caps);
}

function blobFeeTooHigh({ fees }: PricedRequest, quote: FeeQuote, caps: FeeCaps): string | null {
  const price = blobBaseFeeOf(quote);
  const own = fees.maxFeePerBlobGas === null ? null : minOf(fees.maxFeePerBlobGas, caps.maxFeePerBlobGas);
  if (own !== null && own < price) return `maxFeePerBlobGas ${own} is below the blob base fee ${price}`;
  return aboveCap('blob base fee', price, 'maxFeePerBlobGas', caps);
}

function aboveCap(what: string, price: bigint, name: keyof FeeCaps, caps: FeeCaps): string | null {
  return price > caps[name] ? `the ${what} ${price} is above the configured fees.${name} ${caps[name]}` : null;
}

/** Transactions of the types 0 and 1 have a gas price. */
export function hasOnePrice(type: TxType): boolean {
  return type < 2;
}

/** The client chose a gas price, or the chain has nothing else. */
function asksOnePrice({ fees }: PricedRequest, { hasBaseFee }: FeeQuote): boolean {
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

function blobBaseFeeOf({ blobBaseFee }: FeeQuote): bigint {
  return blobBaseFee ?? MIN_BLOB_FEE;
}

export function onePrice(price: bigint): AttemptFees {
  return { maxFeePerGas: price, maxPriorityFeePerGas: price };
}

/**
 * Lower fees for nodes that limit the cost of all the gas of a transaction (geth: `--rpc.txfeecap`): the highest that fit, and enough for
 * the next block, whose base fee is at most an eighth higher. Null when not even that fits.
 */
export function feesWithin(maxTxFee: bigint, gasLimit: bigint, fees: AttemptFees, quote: FeeQuote): AttemptFees | null {
  const maxFeePerGas = minOf(fees.maxFeePerGas, maxTxFee / gasLimit);
  if (maxFeePerGas >= fees.maxFeePerGas) return fees;
  if (maxFeePerGas < minOf(highestNextBaseFee(quote.baseFeePerGas), fees.maxFeePerGas)) return null;
  return { ...fees, maxFeePerGas, maxPriorityFeePerGas: minOf(fees.maxPriorityFeePerGas, maxFeePerGas) };
}

/** After this time the limit of a node is tried again, because its operator may raise it. */
const VALID_MS = 600_000;

/** The most that the nodes of each chain allow a transaction to cost, in wei, as read from their refusals. Times are monotonic ms. */
export class NodeTxFeeLimits {
  private readonly limits = new Map<ChainId, { readonly wei: bigint; readonly untilMs: number }>();

  /** The lowest of several limits counts. */
  learn(chainId: ChainId, limit: bigint, nowMs: number): void {
    const known = this.of(chainId, nowMs);
    this.limits.set(chainId, { wei: known === null ? limit : minOf(known, limit), untilMs: nowMs + VALID_MS });
  }

  /** Null when no node named a limit lately. */
  of(chainId: ChainId, nowMs: number): bigint | null {
    const known = this.limits.get(chainId);
    return known !== undefined && nowMs < known.untilMs ? known.wei : null;
  }
}

import type { DemandedFee, FeeCaps, FeeQuote } from '../../chain/index.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { actionOf } from '../../chain/domain/index.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import { mayBeInPool } from '../../ledger/domain/index.js';
import type { Attempt, AttemptFees, TxRequest, TxType } from '../../ledger/index.js';
import { hasOnePrice, onePrice } from './fee-policy.js';

/** The next price of a slot. */
export type Bump =
  | { readonly kind: 'fees'; readonly fees: AttemptFees }
  /** What it takes is above these caps: of the config, of the request, or of the nodes. */
  | { readonly kind: 'capped'; readonly caps: FeeCaps }
  /** Gas is free, and the account cannot pay a price above 0. */
  | { readonly kind: 'unaffordable' }
  /** The price is not what the transaction waits for: it reaches the 90th percentile of the market already. */
  | { readonly kind: 'above_market' };

export interface BumpBasis {
  /** Fees that the next ones must outbid, as a pool demands it of a replacement; null when no pool has an attempt. */
  readonly rival: AttemptFees | null;
  /** What a first attempt would offer now. */
  readonly market: AttemptFees;
  readonly caps: FeeCaps;
  /** The type of the next attempt. */
  readonly type: TxType;
  /** What a node asked for in its refusal. */
  readonly demanded: DemandedFee | null;
  /** Wei per gas of the next block. */
  readonly baseFeePerGas: bigint;
}

/**
 * A refusal is the word of one node, and its price may be absurd: it is followed by a factor of ten at a time, from what was offered or
 * from a gwei.
 */
const MAX_DEMAND_FACTOR = 10n;
const MODEST_WEI_PER_GAS = 1_000_000_000n;

/**
 * Fees that every known pool accepts in place of the rival: each field an eighth higher (geth, reth, Besu and Nethermind demand 10 %,
 * OpenEthereum 12.5 %), rounded up, and twice as high for blobs (the blob pools of geth, reth and Nethermind demand 100 %). Not below the
 * market as far as the caps allow, nor below what a node demanded.
 */
export function bumpedFees(basis: BumpBasis): Bump {
  const { market, caps, type } = basis;
  const capped: Bump = { kind: 'capped', caps };
  const least = leastFees(basis);
  if (hasOnePrice(type)) {
    const price = maxOf(least.maxFeePerGas, least.maxPriorityFeePerGas);
    if (price > caps.maxFeePerGas) return capped;
    return { kind: 'fees', fees: onePrice(within(price, market.maxFeePerGas, caps.maxFeePerGas)) };
  }
  const names: readonly (keyof FeeCaps)[] = type === 3 ? [...FIELDS, 'maxFeePerBlobGas'] : FIELDS;
  if (names.some((name) => (least[name] ?? 0n) > caps[name])) return capped;
  const best = (name: keyof FeeCaps): bigint => within(least[name] ?? 0n, market[name] ?? 0n, caps[name]);
  const maxFeePerGas = best('maxFeePerGas');
  const fees = { maxFeePerGas, maxPriorityFeePerGas: minOf(best('maxPriorityFeePerGas'), maxFeePerGas) };
  return { kind: 'fees', fees: type === 3 ? { ...fees, maxFeePerBlobGas: best('maxFeePerBlobGas') } : fees };
}

const FIELDS = ['maxFeePerGas', 'maxPriorityFeePerGas'] as const;

/** Below these fees the next attempt is refused. */
function leastFees({ rival, market, type, demanded, baseFeePerGas }: BumpBasis): AttemptFees {
  const raise = type === 3 ? doubled : raised;
  const offered = rival ?? market;
  const least = (name: keyof FeeCaps): bigint => {
    const before = offered[name] ?? 0n;
    return maxOf(rival === null ? 0n : raise(before), believed(demanded?.[name], before));
  };
  const tip = least('maxPriorityFeePerGas');
  // Below base fee + tip the tip that was demanded is not paid in full.
  const feeForTip = demanded?.maxPriorityFeePerGas === undefined ? tip : baseFeePerGas + tip;
  const fees = { maxFeePerGas: maxOf(least('maxFeePerGas'), feeForTip), maxPriorityFeePerGas: tip };
  return type === 3 ? { ...fees, maxFeePerBlobGas: least('maxFeePerBlobGas') } : fees;
}

function believed(demanded: bigint | undefined, offered: bigint): bigint {
  return minOf(demanded ?? 0n, MAX_DEMAND_FACTOR * maxOf(offered, MODEST_WEI_PER_GAS));
}

/**
 * Whether fees reach what a node demands. A fee cap below base fee + tip does not pay the tip in full. No fees reach what is demanded for blobs
 * of a tx that has none, so that counts for nothing.
 */
export function isOffered(demanded: DemandedFee, fees: AttemptFees, baseFeePerGas: bigint): boolean {
  const tip = demanded.maxPriorityFeePerGas;
  return (
    (demanded.maxFeePerGas ?? 0n) <= fees.maxFeePerGas &&
    (fees.maxFeePerBlobGas === undefined || (demanded.maxFeePerBlobGas ?? 0n) <= fees.maxFeePerBlobGas) &&
    (tip === undefined || (tip <= fees.maxPriorityFeePerGas && baseFeePerGas + tip <= fees.maxFeePerGas))
  );
}

function within(least: bigint, wanted: bigint, cap: bigint): bigint {
  return minOf(maxOf(least, wanted), cap);
}

/**
 * The caps for another attempt of a request with fees of its own: each is the most that the client wants to pay, or the highest attempt so
 * far, where that is more (a command of the client may have raised it).
 */
export function requestCaps(caps: FeeCaps, asked: TxRequest['fees'], previous: AttemptFees): FeeCaps {
  const cap = (name: keyof FeeCaps): bigint => {
    const own = asked[name] ?? (name === 'maxFeePerBlobGas' ? null : asked.gasPrice);
    return own === null ? caps[name] : minOf(caps[name], maxOf(own, previous[name] ?? 0n));
  };
  return {
    maxFeePerGas: cap('maxFeePerGas'),
    maxPriorityFeePerGas: cap('maxPriorityFeePerGas'),
    maxFeePerBlobGas: cap('maxFeePerBlobGas'),
  };
}

/** Whether the fees are enough for the next block, and their tip is one that a congested chain takes. */
export function isAboveMarket(fees: AttemptFees, { baseFeePerGas, congestedTip, blobBaseFee }: FeeQuote): boolean {
  const { maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas } = fees;
  if (maxFeePerBlobGas !== undefined && blobBaseFee !== null && maxFeePerBlobGas < blobBaseFee) return false;
  return maxPriorityFeePerGas >= congestedTip && maxFeePerGas >= baseFeePerGas + congestedTip;
}

/** Nodes that refuse every price, and do not say what they demand, raise it to about so many times the most urgent one. */
const MOST_FOR_A_REFUSAL = 2n;

/** A bump raises both fields, so a fee cap alone may be far above while the tip is not. */
export function isFarAboveMarket(fees: AttemptFees, { baseFeePerGas, tips: { urgent } }: FeeQuote): boolean {
  const { maxFeePerGas, maxPriorityFeePerGas: tip } = fees;
  const urgentFee = 2n * baseFeePerGas + urgent;
  return tip > MOST_FOR_A_REFUSAL * urgent || (tip >= urgent && maxFeePerGas > MOST_FOR_A_REFUSAL * urgentFee);
}

/** ceil(x * 1.125), and more than x. */
function raised(price: bigint): bigint {
  return maxOf((price * 9n + 7n) / 8n, price + 1n);
}

function doubled(price: bigint): bigint {
  return maxOf(2n * price, price + 1n);
}

/** Raises each fee to what `least` names, as far as the caps allow. */
export function feesAtLeast(fees: AttemptFees, least: Partial<AttemptFees>, caps: FeeCaps): AttemptFees {
  const raisedTo = (name: keyof FeeCaps): bigint => {
    const [fee = 0n, wanted] = [fees[name], least[name]];
    return wanted === undefined ? fee : maxOf(fee, minOf(wanted, caps[name]));
  };
  const tip = raisedTo('maxPriorityFeePerGas');
  // The fee cap includes the tip.
  const maxFeePerGas = maxOf(raisedTo('maxFeePerGas'), minOf(tip, caps.maxFeePerGas));
  const ofGas = { maxFeePerGas, maxPriorityFeePerGas: minOf(tip, maxFeePerGas) };
  return fees.maxFeePerBlobGas === undefined ? ofGas : { ...ofGas, maxFeePerBlobGas: raisedTo('maxFeePerBlobGas') };
}

/** Whether a node that refused `refused` as too cheap would refuse `fees`, too. */
export function isNoBetter(fees: AttemptFees, refused: AttemptFees): boolean {
  return (
    fees.maxFeePerGas <= refused.maxFeePerGas &&
    fees.maxPriorityFeePerGas <= refused.maxPriorityFeePerGas &&
    (fees.maxFeePerBlobGas ?? 0n) <= (refused.maxFeePerBlobGas ?? 0n)
  );
}

export function sameFees(a: AttemptFees, b: AttemptFees): boolean {
  return isNoBetter(a, b) && isNoBetter(b, a);
}

/** Refusals of a transaction that a higher price would have avoided. */
const TOO_CHEAP: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'underpriced',
  'replacement_underpriced',
  'fee_cap_too_low',
  'blob_fee_cap_too_low',
]);

/** Whether its last send was refused because it was too cheap; also by a pool that has another attempt of the slot. */
export function refusedForPrice({ errorClass }: Pick<Attempt, 'errorClass'>): boolean {
  return errorClass !== null && TOO_CHEAP.has(errorClass);
}

/** Whether its last send was refused for its price although it was not too cheap: as too dear, or as one whose fees contradict each other. */
export function refusedAtAnyHigherPrice(attempt: Pick<Attempt, 'errorClass'>): boolean {
  const { errorClass } = attempt;
  return errorClass !== null && actionOf(errorClass).response === 'reprice' && !refusedForPrice(attempt);
}

/** Whether the balance did not cover its last send: less gas may help. */
export function refusedForFunds({ errorClass }: Pick<Attempt, 'errorClass'>): boolean {
  return errorClass !== null && actionOf(errorClass).response === 'wait_for_funds';
}

/** Blocks after which the market may have moved so far that a refused price says nothing any more; before it, an endpoint told a wrong block. */
const REFUSED_PRICE_BLOCKS = 16;

/**
 * The attempts of a slot that bind its next price: those that a pool may have, and those that were refused, for a while, of the same tx alone.
 * @param txId null for a tx without an attempt
 */
export function bindingFor(txId: string | null, ofSlot: readonly Attempt[], blockNumber: number): Attempt[] {
  return ofSlot.filter(
    ({ status, txId: owner, pricedAtBlock }) =>
      mayBeInPool({ status }) ||
      (owner === txId && Math.abs(blockNumber - (pricedAtBlock ?? 0)) <= REFUSED_PRICE_BLOCKS),
  );
}

/**
 * The highest fees of all attempts that a pool may have, and of those that were refused only because they were too cheap. The next attempt for
 * the slot must pay more.
 */
export function highestFees(attempts: readonly Attempt[]): AttemptFees | null {
  const [first, ...others] = attempts
    .filter((attempt) => mayBeInPool(attempt) || refusedForPrice(attempt))
    .map(({ fees }) => fees);
  return first ? others.reduce(higherOf, first) : null;
}

function higherOf(a: AttemptFees, b: AttemptFees): AttemptFees {
  const blobFee = maxOf(a.maxFeePerBlobGas ?? 0n, b.maxFeePerBlobGas ?? 0n);
  return {
    maxFeePerGas: maxOf(a.maxFeePerGas, b.maxFeePerGas),
    maxPriorityFeePerGas: maxOf(a.maxPriorityFeePerGas, b.maxPriorityFeePerGas),
    ...(blobFee === 0n ? {} : { maxFeePerBlobGas: blobFee }),
  };
}

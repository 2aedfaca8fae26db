import { maxOf, minOf } from '../../../kernel/quantities.js';
import { type FeeQuote, SPEEDS, type Speed } from './fee-quote.js';

/** EIP-1559: a base fee changes by at most an eighth from one block to the next. */
const MAX_FACTOR_PER_BLOCK = 1.125;
/** Rollups change their base fee by other rules, and heads and quotes are not read at the same moment. */
const SLACK_FACTOR = 2;
/** Differences up to this are ignored. */
const NEGLIGIBLE_WEI_PER_GAS = 1_000_000n;
/** A tip that grows by more than this from one quote to the next needs a second observation. */
const TIP_JUMP_FACTOR = 10n;
/** Tips up to this times the factor never do: a chain without traffic quotes almost nothing until there is traffic again. */
const MODEST_TIP_WEI_PER_GAS = 1_000_000_000n;

/** A chain may make blocks only when there are transactions, and none are sent while no quote fits: then the same block, after this long, confirms its fees. */
const SAME_BLOCK_CONFIRMS_MS = 60_000;

/** A base fee, wei per gas, and the block that it is for. */
export interface BaseFeeAt {
  readonly number: number;
  readonly fee: bigint;
}

/** Whether the base fee of a chain can change from one to the other, in either direction, in the blocks between. */
export function isReachable(a: BaseFeeAt, b: BaseFeeAt): boolean {
  const [low, high] = a.fee < b.fee ? [a.fee, b.fee] : [b.fee, a.fee];
  return high - low <= NEGLIGIBLE_WEI_PER_GAS || Number(high) <= Number(low) * factorBetween(a, b);
}

/** The reachable base fee that is nearest to one that is not. */
function nearestReachable(from: BaseFeeAt, to: BaseFeeAt): bigint {
  const factor = factorBetween(from, to);
  if (to.fee < from.fee) return BigInt(Math.ceil(Number(from.fee) / factor));
  return from.fee === 0n ? NEGLIGIBLE_WEI_PER_GAS : BigInt(Math.floor(Number(from.fee) * factor));
}

function factorBetween(a: BaseFeeAt, b: BaseFeeAt): number {
  return SLACK_FACTOR * MAX_FACTOR_PER_BLOCK ** Math.max(1, Math.abs(a.number - b.number));
}

/** The last value that was accepted. A jump is accepted when a second block confirms it, or the same block a minute later. */
export class LastAccepted<T> {
  private accepted: T | null = null;
  private unconfirmed: { readonly value: T; readonly block: number; readonly sinceMs: number } | null = null;

  constructor(private readonly isJump: (before: T, now: T) => boolean) {}

  get value(): T | null {
    return this.accepted;
  }

  /**
   * @param nowMs monotonic
   * @returns whether it is accepted
   */
  saw(value: T, block: number, nowMs: number): boolean {
    if (this.accepted === null || !this.isJump(this.accepted, value) || this.isConfirmed(value, block, nowMs)) {
      this.accept(value);
      return true;
    }
    if (this.unconfirmed?.block !== block || this.isOld(nowMs)) this.unconfirmed = { value, block, sinceMs: nowMs };
    return false;
  }

  accept(value: T): void {
    this.accepted = value;
    this.unconfirmed = null;
  }

  private isConfirmed(value: T, block: number, nowMs: number): boolean {
    const { unconfirmed } = this;
    if (unconfirmed === null || this.isJump(unconfirmed.value, value)) return false;
    return unconfirmed.block !== block || this.isOld(nowMs);
  }

  private isOld(nowMs: number): boolean {
    return this.unconfirmed !== null && nowMs - this.unconfirmed.sinceMs >= SAME_BLOCK_CONFIRMS_MS;
  }
}

/** The accepted base fee of the newest head: quotes are compared with it. */
export class AcceptedBaseFee {
  private readonly last = new LastAccepted<BaseFeeAt>((before, now) => !isReachable(before, now));

  /** @param nowMs monotonic */
  saw(head: BaseFeeAt, nowMs: number): void {
    this.last.saw(head, head.number, nowMs);
  }

  allows(quote: FeeQuote): boolean {
    const { value } = this.last;
    return value === null || isReachable(value, nextBaseFee(quote));
  }

  /** A quote that is not allowed, with the nearest base fee that is. */
  limited(quote: FeeQuote): FeeQuote {
    const { value } = this.last;
    return value === null ? quote : { ...quote, baseFeePerGas: nearestReachable(value, nextBaseFee(quote)) };
  }
}

function nextBaseFee({ blockNumber, baseFeePerGas }: FeeQuote): BaseFeeAt {
  return { number: blockNumber + 1, fee: baseFeePerGas };
}

/** Whether some tip grew so much that one endpoint alone is not enough. */
export function hasTipJump(before: FeeQuote, now: FeeQuote): boolean {
  return SPEEDS.some((speed) => now.tips[speed] > mostWithoutJump(before.tips[speed]));
}

/** What of a jump of the tips may be paid before anything confirms it. */
export function withoutTipJump(before: FeeQuote, now: FeeQuote): FeeQuote {
  const tip = (speed: Speed): bigint => minOf(now.tips[speed], mostWithoutJump(before.tips[speed]));
  return {
    ...now,
    tips: { slow: tip('slow'), standard: tip('standard'), fast: tip('fast'), urgent: tip('urgent') },
    congestedTip: minOf(now.congestedTip, mostWithoutJump(before.congestedTip)),
  };
}

function mostWithoutJump(tip: bigint): bigint {
  return TIP_JUMP_FACTOR * maxOf(tip, MODEST_TIP_WEI_PER_GAS);
}

/**
 * The lower of the two middle values, field by field: one wrong endpoint of two or more cannot raise any of them. Endpoints that disagree
 * whether the chain has a base fee are not mixed: the greater group counts, and of two equal groups the one without, because nodes take a
 * transaction with one gas price on every chain.
 */
export function lowerMedian(quotes: readonly FeeQuote[]): FeeQuote | null {
  const plain = quotes.filter(({ hasBaseFee }) => !hasBaseFee);
  const used = plain.length * 2 >= quotes.length ? plain : quotes.filter(({ hasBaseFee }) => hasBaseFee);
  const [first] = used;
  if (first === undefined) return null;
  const middle = (of: (quote: FeeQuote) => bigint): bigint => lowerMiddle(used.map(of)) ?? of(first);
  const tip = (speed: Speed): bigint => middle(({ tips }) => tips[speed]);
  const blobFees = used.flatMap(({ blobBaseFee }) => blobBaseFee ?? []);
  return {
    blockNumber: Number(middle(({ blockNumber }) => BigInt(blockNumber))),
    hasBaseFee: first.hasBaseFee,
    baseFeePerGas: middle(({ baseFeePerGas }) => baseFeePerGas),
    tips: { slow: tip('slow'), standard: tip('standard'), fast: tip('fast'), urgent: tip('urgent') },
    congestedTip: middle(({ congestedTip }) => congestedTip),
    blobBaseFee: blobFees.length * 2 >= used.length ? lowerMiddle(blobFees) : null,
  };
}

function lowerMiddle(values: readonly bigint[]): bigint | null {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

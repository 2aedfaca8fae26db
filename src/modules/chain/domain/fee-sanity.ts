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

/**
 * A chain may make blocks only when there are transactions, and none are sent while no quote fits: then the same block, after this long, confirms
 * its base fee.
 */
const SAME_BLOCK_CONFIRMS_MS = 60_000;

/** A base fee, wei per gas, and the block that it is for. */
export interface BaseFeeAt {
  readonly number: number;
  readonly fee: bigint;
}

/** Whether the base fee of a chain can change from one to the other, in either direction, in the blocks between. */
export function isReachable(a: BaseFeeAt, b: BaseFeeAt): boolean {
  const [low, high] = a.fee < b.fee ? [a.fee, b.fee] : [b.fee, a.fee];
  if (high - low <= NEGLIGIBLE_WEI_PER_GAS) return true;
  return (
    Number(high) <= Number(low) * SLACK_FACTOR * MAX_FACTOR_PER_BLOCK ** Math.max(1, Math.abs(a.number - b.number))
  );
}

/** The accepted base fee of the newest head: quotes are compared with it. */
export class AcceptedBaseFee {
  private accepted: BaseFeeAt | null = null;
  private unconfirmed: (BaseFeeAt & { readonly sinceMs: number }) | null = null;

  /**
   * A jump is accepted when a second block confirms it, or the same block a minute later.
   * @param nowMs monotonic
   */
  saw(head: BaseFeeAt, nowMs: number): void {
    const { accepted } = this;
    if (accepted === null || isReachable(accepted, head) || this.isConfirmed(head, nowMs)) {
      this.accepted = head;
      this.unconfirmed = null;
    } else if (this.unconfirmed?.number !== head.number || this.isOld(nowMs)) {
      this.unconfirmed = { ...head, sinceMs: nowMs };
    }
  }

  allows({ blockNumber, baseFeePerGas }: FeeQuote): boolean {
    return this.accepted === null || isReachable(this.accepted, { number: blockNumber + 1, fee: baseFeePerGas });
  }

  private isConfirmed(head: BaseFeeAt, nowMs: number): boolean {
    const { unconfirmed } = this;
    if (unconfirmed === null || !isReachable(unconfirmed, head)) return false;
    return unconfirmed.number !== head.number || this.isOld(nowMs);
  }

  private isOld(nowMs: number): boolean {
    return this.unconfirmed !== null && nowMs - this.unconfirmed.sinceMs >= SAME_BLOCK_CONFIRMS_MS;
  }
}

/** Whether some tip grew so much that one endpoint alone is not enough. */
export function hasTipJump(before: FeeQuote, now: FeeQuote): boolean {
  return SPEEDS.some((speed) => {
    const usual = before.tips[speed] > MODEST_TIP_WEI_PER_GAS ? before.tips[speed] : MODEST_TIP_WEI_PER_GAS;
    return now.tips[speed] > TIP_JUMP_FACTOR * usual;
  });
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

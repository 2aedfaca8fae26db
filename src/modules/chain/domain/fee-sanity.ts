import { type FeeQuote, SPEEDS, type Speed } from './fee-quote.js';

/** EIP-1559: a base fee changes by an eighth from one block to the next, at most. */
const PER_BLOCK = 1.125;
/** Rollups change theirs by other rules, and heads and quotes are not told at the same time. */
const SLACK = 2;
/** Wei per gas below which no difference matters. */
const NEXT_TO_NOTHING = 1_000_000n;
/** A tip that grows more than this from one look to the next is doubted. */
const TIP_LEAP = 10n;
/** Wei per gas up to which it is not: quiet chains quote next to nothing until there is a market again. */
const MODEST_TIP = 1_000_000_000n;

/** A base fee, wei per gas, and the block that it is for. */
export interface BaseFeeAt {
  readonly number: number;
  readonly fee: bigint;
}

/** Whether a chain can have come from one base fee to the other, in either direction, in the blocks between. */
export function isReachable(a: BaseFeeAt, b: BaseFeeAt): boolean {
  const [low, high] = a.fee < b.fee ? [a.fee, b.fee] : [b.fee, a.fee];
  if (high - low <= NEXT_TO_NOTHING) return true;
  return Number(high) <= Number(low) * SLACK * PER_BLOCK ** Math.max(1, Math.abs(a.number - b.number));
}

/** The base fees of the heads, as far as they are believed: what a quote is measured against. */
export class BaseFeeTrail {
  private known: BaseFeeAt | null = null;
  private doubted: BaseFeeAt | null = null;

  /** A leap is believed when a second block confirms it. */
  saw(head: BaseFeeAt): void {
    const { known, doubted } = this;
    const isConfirmed = doubted !== null && doubted.number !== head.number && isReachable(doubted, head);
    if (known === null || isReachable(known, head) || isConfirmed) {
      this.known = head;
      this.doubted = null;
    } else {
      this.doubted = doubted?.number === head.number ? doubted : head;
    }
  }

  allows({ blockNumber, baseFeePerGas }: FeeQuote): boolean {
    return this.known === null || isReachable(this.known, { number: blockNumber + 1, fee: baseFeePerGas });
  }
}

/** Whether some tip is so much higher than before that one endpoint alone is not believed at once. */
export function leaps(before: FeeQuote, now: FeeQuote): boolean {
  return SPEEDS.some((speed) => {
    const usual = before.tips[speed] > MODEST_TIP ? before.tips[speed] : MODEST_TIP;
    return now.tips[speed] > TIP_LEAP * usual;
  });
}

/** The lower of the two middle values, field by field: one mad endpoint of two or more cannot raise any of them. */
export function lowerMedian(quotes: readonly FeeQuote[]): FeeQuote | null {
  const [first] = quotes;
  if (first === undefined) return null;
  const middle = (of: (quote: FeeQuote) => bigint): bigint => {
    const sorted = quotes.map(of).sort((a, b) => (a < b ? -1 : 1));
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? of(first);
  };
  const tip = (speed: Speed): bigint => middle(({ tips }) => tips[speed]);
  return {
    blockNumber: Number(middle(({ blockNumber }) => BigInt(blockNumber))),
    baseFeePerGas: middle(({ baseFeePerGas }) => baseFeePerGas),
    tips: { slow: tip('slow'), standard: tip('standard'), fast: tip('fast'), urgent: tip('urgent') },
  };
}

/** Blocks per millisecond that no chain makes; the fastest that we know make four a second. */
const FASTEST = 10 / 1_000;
/** Blocks that one head may grow at once: an endpoint that was busy, or a look that came late. */
const LEAP = 64;
/** Blocks by which one of only two endpoints may be ahead when nothing else is known: five days of Ethereum, one hour at the fastest. */
const LEAD = 36_000;

/** A head and the moment it was told, monotonic milliseconds. */
export interface HeadAt {
  readonly number: number;
  readonly at: number;
}

/** The newest head that one endpoint told. */
export interface ToldHead extends HeadAt {
  /** The last one of this endpoint that was not too far ahead. */
  readonly believed: HeadAt | null;
}

/** Where an endpoint stands. */
export interface Standing {
  /** Blocks behind the best head; below zero for one that is ahead of what the others have. */
  readonly lag: number;
  /** So far ahead that nothing it says of its head is believed. */
  readonly isAhead: boolean;
}

/**
 * The best head is not the maximum: of three and more endpoints it is the highest that at least half of them have reached, which is
 * at least two. Of two endpoints the higher one counts, because the other may stand still, unless it is further ahead than a chain can
 * get: then one alone proves nothing.
 *
 * @returns standings in the order given
 */
export function standings(heads: readonly ToldHead[], maxLag: number): readonly Standing[] {
  const [highest, second] = heads.toSorted((a, b) => b.number - a.number);
  if (highest === undefined || second === undefined) return heads.map(() => ({ lag: 0, isAhead: false }));
  if (heads.length === 2) {
    const isTooFar = highest.number > reachOfOne(highest, second, maxLag);
    const best = isTooFar ? second : highest;
    return heads.map((head) => ({ lag: best.number - head.number, isAhead: isTooFar && head === highest }));
  }
  const reached = nth(heads, Math.ceil(heads.length / 2)) ?? highest;
  return heads.map((head) => ({
    lag: reached.number - head.number,
    isAhead: head.number > reached.number + maxLag + growth(reached, head.at),
  }));
}

/** The head that so many endpoints have reached. */
function nth(heads: readonly ToldHead[], count: number): HeadAt | undefined {
  return heads.toSorted((a, b) => b.number - a.number)[count - 1];
}

/** The highest head that one endpoint may tell, against the word of one other. */
function reachOfOne(head: ToldHead, other: HeadAt, maxLag: number): number {
  const { believed } = head;
  if (believed === null) return other.number + LEAD;
  return Math.max(other.number + maxLag + growth(other, head.at), believed.number + LEAP + growth(believed, head.at));
}

/** Blocks that may have come since. */
function growth(since: HeadAt, now: number): number {
  return Math.max(0, now - since.at) * FASTEST;
}

/** No chain makes more blocks; the fastest chains that we know make four per second. */
const MAX_BLOCKS_PER_MS = 10 / 1_000;
/** Blocks that a head may grow at once: after an endpoint was busy, or after a late read. */
const MAX_JUMP_BLOCKS = 64;
/** Blocks that one of two endpoints may be ahead when nothing else is known: five days of Ethereum, one hour of the fastest chain. */
const MAX_UNCONFIRMED_LEAD_BLOCKS = 36_000;

/** A head, and when it was reported, in monotonic milliseconds. */
export interface HeadAt {
  readonly number: number;
  readonly at: number;
}

/** The newest head that one endpoint reported. */
export interface ReportedHead extends HeadAt {
  /** The last head of this endpoint that was not too far ahead. */
  readonly accepted: HeadAt | null;
}

/** Where an endpoint is, compared with the other endpoints. */
export interface HeadPosition {
  /** Blocks behind the best head; negative when the endpoint is ahead of it. */
  readonly lag: number;
  /** The head is so far ahead that it is not used. */
  readonly isAhead: boolean;
}

/**
 * The best head is not the maximum. With three or more endpoints it is the highest head that at least half of them, so at least two,
 * have reached. With two endpoints it is the higher head, because the other endpoint may be stuck, unless it is further ahead than a
 * chain can get: then one endpoint alone proves nothing.
 *
 * @returns positions in the given order
 */
export function headPositions(heads: readonly ReportedHead[], maxLag: number): readonly HeadPosition[] {
  const [highest, second] = heads.toSorted((a, b) => b.number - a.number);
  if (highest === undefined || second === undefined) return heads.map(() => ({ lag: 0, isAhead: false }));
  if (heads.length === 2) {
    const isTooFar = highest.number > maxHeadOfOne(highest, second, maxLag);
    const best = isTooFar ? second : highest;
    return heads.map((head) => ({ lag: best.number - head.number, isAhead: isTooFar && head === highest }));
  }
  const reached = reachedBy(heads, Math.ceil(heads.length / 2)) ?? highest;
  return heads.map((head) => ({
    lag: reached.number - head.number,
    isAhead: head.number > reached.number + maxLag + growth(reached, head.at),
  }));
}

/** The highest head that so many endpoints have reached. */
function reachedBy(heads: readonly ReportedHead[], count: number): HeadAt | undefined {
  return heads.toSorted((a, b) => b.number - a.number)[count - 1];
}

/** The highest head that is accepted from one endpoint when one other endpoint reports a lower one. */
function maxHeadOfOne(head: ReportedHead, other: HeadAt, maxLag: number): number {
  const { accepted } = head;
  if (accepted === null) return other.number + MAX_UNCONFIRMED_LEAD_BLOCKS;
  return Math.max(
    other.number + maxLag + growth(other, head.at),
    accepted.number + MAX_JUMP_BLOCKS + growth(accepted, head.at),
  );
}

/** The most blocks that the chain can have made since then. */
function growth(since: HeadAt, now: number): number {
  return Math.max(0, now - since.at) * MAX_BLOCKS_PER_MS;
}

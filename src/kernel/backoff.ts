/** Milliseconds. The state of a chain changes with each block, so a longer pause would only delay the transaction. */
const LONGEST_MS = 60_000;

/** Pause before the next try; doubles with every try that has the same result: `first`, 2 x `first`, … up to `longestMs`, a minute by default. */
export function backoffMs(firstMs: number, tries: number, longestMs = LONGEST_MS): number {
  return Math.min(firstMs * 2 ** Math.min(tries, 30), Math.max(firstMs, longestMs));
}

/** A pause with jitter is between this part of its length and all of it. */
const LEAST_PART = 0.75;

/**
 * A pause that differs a little each time: what failed together is not due together again.
 * @param chance between 0 and 1
 */
export function jittered(ms: number, chance: number): number {
  return ms * (LEAST_PART + (1 - LEAST_PART) * chance);
}

/** A chance that depends on the id alone: between 0 and 1, different for most ids, and the same each time. */
export function chanceOf(id: string): number {
  let hash = 0;
  for (const letter of id) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  // Spreads ids that differ in their last letter only.
  return (Math.imul(hash, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/** Milliseconds that `tries` tries took, with the pauses of {@link backoffMs}. */
export function triedForMs(firstMs: number, tries: number): number {
  let sum = 0;
  for (let n = 0; n < tries && n < 1_000_000; n += 1) sum += backoffMs(firstMs, n);
  return sum;
}

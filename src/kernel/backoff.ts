/** Milliseconds. The state of a chain changes with each block, so a longer pause would only delay the transaction. */
const LONGEST_MS = 60_000;

/** Pause before the next try; doubles with every try that has the same result: `first`, 2 x `first`, … up to `longestMs`, a minute by default. */
export function backoffMs(firstMs: number, tries: number, longestMs = LONGEST_MS): number {
  return Math.min(firstMs * 2 ** Math.min(tries, 30), Math.max(firstMs, longestMs));
}

/** Milliseconds that `tries` tries took, with the pauses of {@link backoffMs}. */
export function triedForMs(firstMs: number, tries: number): number {
  let sum = 0;
  for (let n = 0; n < tries && n < 1_000_000; n += 1) sum += backoffMs(firstMs, n);
  return sum;
}

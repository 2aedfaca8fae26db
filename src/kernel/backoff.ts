/** Milliseconds. Conditions of a chain change with its blocks, so a longer pause would only delay what has become possible. */
const LONGEST_MS = 60_000;

/** Pause before the next try, doubled with every try that came to the same: `first`, 2 x `first`, … up to a minute. */
export function backoffMs(firstMs: number, tries: number): number {
  return Math.min(firstMs * 2 ** Math.min(tries, 30), Math.max(firstMs, LONGEST_MS));
}

/** About how long something has been tried that was tried so often, with the pauses of {@link backoffMs}. */
export function triedForMs(firstMs: number, tries: number): number {
  let sum = 0;
  for (let n = 0; n < tries && n < 1_000_000; n += 1) sum += backoffMs(firstMs, n);
  return sum;
}

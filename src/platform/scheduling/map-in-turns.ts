import { setImmediate as nextTurn } from 'node:timers/promises';

/** At 0.1 ms per item this takes a few ms: short enough for requests that wait for this thread. */
const ITEMS_PER_TURN = 32;

/**
 * Maps items like `Array.map`, and yields the thread in between: a batch of hundreds would delay every request.
 * @param turnMs to yield sooner, where one item may cost as much as a hundred others
 */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
  turnMs = Infinity,
): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (const [index, item] of items.entries()) {
    if (index > 0 && (index % ITEMS_PER_TURN === 0 || performance.now() - begun > turnMs)) {
      await nextTurn();
      begun = performance.now();
    }
    results.push(map(item, index));
  }
  return results;
}

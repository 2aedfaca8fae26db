import { setImmediate as nextTurn } from 'node:timers/promises';

/** At 0.1 ms each, a few ms: short enough for requests that wait for this thread. */
const AT_ONCE = 32;

/** Maps items as `Array.map` does, and lets others have the thread in between: a batch of hundreds would hold up every request. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await nextTurn();
    results.push(map(item, index));
  }
  return results;
}

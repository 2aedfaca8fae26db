import { Unavailable } from '../../kernel/errors.js';

/**
 * One poisonous item must not fail its neighbours: work on a batch that fails is done in halves, down to the one item, which
 * is handed to `onPoison`. What may pass by itself ({@link Unavailable}) is no item's fault and fails the whole batch at once: where
 * the batch is of several signers, {@link isolateFailures} around it finds the one in trouble.
 */
export async function bisectOnFailure<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  onPoison: (item: Item, error: unknown) => Promise<void>,
): Promise<Result[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    return [...(await work(items))];
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    if (items.length === 1) {
      await onPoison(first, error);
      return [];
    }
    const middle = Math.ceil(items.length / 2);
    const left = await bisectOnFailure(items.slice(0, middle), work, onPoison);
    const right = await bisectOnFailure(items.slice(middle), work, onPoison);
    return [...left, ...right];
  }
}

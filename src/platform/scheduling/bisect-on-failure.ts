import { Unavailable } from '../../kernel/errors.js';

/**
 * Runs work on a batch so that one poisonous item does not fail the others: a batch that fails is repeated in halves, down to the poisonous
 * item, which goes to `onPoison`. A temporary error ({@link Unavailable}) is not the fault of an item and fails the whole batch at once:
 * for batches of several signers, {@link isolateFailures} around it finds the signer that fails.
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

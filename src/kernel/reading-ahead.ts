/** Uses items one after the other, and reads the next item meanwhile. Throws when an item cannot be read or used. */
export async function readingAhead<Item, Read>(
  items: readonly Item[],
  read: (item: Item) => Promise<Read>,
  use: (read: Read) => Promise<void>,
): Promise<void> {
  let ahead: Promise<Read> | null = null;
  for (const [index, item] of items.entries()) {
    const result = await (ahead ?? read(item));
    const next = items[index + 1];
    ahead = next === undefined ? null : read(next);
    // Prevents an unhandled rejection: when the use of this item fails, the read of the next one is never awaited.
    ahead?.catch(() => undefined);
    await use(result);
  }
}

/** Uses the items one after the other, and reads the next one meanwhile. Stops at the first that cannot be read or used. */
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
    // Awaited above, or by nobody when the use of this one fails: then that failure is the one to tell.
    ahead?.catch(() => undefined);
    await use(result);
  }
}

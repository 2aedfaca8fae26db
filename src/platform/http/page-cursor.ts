import { InvalidInput } from '../../kernel/errors.js';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * @param found what follows in the list: one item more than the page has, if there is one
 * @param cursorOf names the last item of the page
 */
export function pageOf<Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
): Page<Item> & { items: Item[] } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: found.length > limit && last !== undefined ? cursorOf(last) : null };
}

/** A place in a list (keyset cursor). Opaque to clients. */
export function encodeCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** @throws InvalidInput `invalid_cursor` for a place that has not this form */
export function decodeCursor(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!form.test(place)) throw invalidCursor();
  return place;
}

export function invalidCursor(): InvalidInput {
  return new InvalidInput(
    'invalid_cursor',
    'not a cursor of this API',
    'send the nextCursor of the previous page, unchanged',
  );
}

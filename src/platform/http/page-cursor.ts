import { InvalidInput } from '../../kernel/errors.js';
import { MAX_PAGE_BYTES } from '../../kernel/page-bytes.js';
import { type SignerId, signerOfKey } from '../../kernel/signer-id.js';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * @param found what follows in the list: one item more than the page has, if there is one
 * @param cursorOf names the last item of the page
 * @param bytesOf about what an item takes in the answer, where that may be much: the page ends before it is longer than MAX_PAGE_BYTES, and has one
 * item at least
 */
export function pageOf<Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => string,
  bytesOf: (item: Item) => number = () => 0,
): Page<Item> & { items: Item[] } {
  let bytes = 0;
  const tooLong = found.slice(0, limit).findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  const items = found.slice(0, tooLong < 0 ? limit : tooLong);
  const last = items.at(-1);
  return { items, nextCursor: found.length > items.length && last !== undefined ? cursorOf(last) : null };
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

/** A place in a list of signers. @throws InvalidInput `invalid_cursor` */
export function decodeSigner(cursor: string): SignerId {
  const signer = signerOfKey(decodeCursor(cursor, /^.+$/));
  if (signer === null) throw invalidCursor();
  return signer;
}

export function invalidCursor(): InvalidInput {
  return new InvalidInput(
    'invalid_cursor',
    'not a cursor of this API',
    'send the nextCursor of the previous page, unchanged',
  );
}

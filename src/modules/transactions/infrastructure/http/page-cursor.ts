import { InvalidInput } from '../../../../kernel/errors.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Keyset cursor: opaque to clients, the last id of a page to us. */
export function encodeCursor(txId: string): string {
  return Buffer.from(txId).toString('base64url');
}

/** @throws InvalidInput `invalid_cursor` */
export function decodeCursor(cursor: string): string {
  const txId = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!isTxId(txId))
    throw new InvalidInput(
      'invalid_cursor',
      'not a cursor of this API',
      'send the nextCursor of the page before, unchanged',
    );
  return txId;
}

export function isTxId(text: string): boolean {
  return UUID.test(text.toLowerCase());
}

import { InvalidInput } from '../../../../kernel/errors.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The last id of a page (keyset cursor). Opaque to clients. */
export function encodeCursor(txId: string): string {
  return Buffer.from(txId).toString('base64url');
}

/** @throws InvalidInput `invalid_cursor` */
export function decodeCursor(cursor: string): string {
  const txId = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!isTxId(txId)) throw invalidCursor();
  return txId;
}

/** The sequence number of the last entry of a page of history. */
export function encodeSeqCursor(seq: string): string {
  return Buffer.from(seq).toString('base64url');
}

/** @throws InvalidInput `invalid_cursor` */
export function decodeSeqCursor(cursor: string): string {
  const seq = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!/^\d{1,18}$/.test(seq)) throw invalidCursor();
  return seq;
}

function invalidCursor(): InvalidInput {
  return new InvalidInput(
    'invalid_cursor',
    'not a cursor of this API',
    'send the nextCursor of the previous page, unchanged',
  );
}

export function isTxId(text: string): boolean {
  return UUID.test(text.toLowerCase());
}

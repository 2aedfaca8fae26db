import { describe, expect, it } from '@jest/globals';
import { TX_ID as TX_PLACE } from '../../../src/modules/requests/infrastructure/http/found-tx.js';
import { HISTORY_PLACE } from '../../../src/modules/requests/infrastructure/http/tx-query.dto.js';
import { decodeCursor, encodeCursor, pageOf } from '../../../src/platform/http/page-cursor.js';

const TX_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const asCursor = (text: string): string => Buffer.from(text).toString('base64url');
const refused: unknown = expect.objectContaining({ kind: 'invalid', code: 'invalid_cursor' });

describe('a cursor of transactions', () => {
  it('names the last id of a page, and fits into a URL as it is', () => {
    const cursor = encodeCursor(TX_ID);
    expect([decodeCursor(cursor, TX_PLACE), encodeURIComponent(cursor)]).toEqual([TX_ID, cursor]);
    expect(decodeCursor(encodeCursor(TX_ID.toUpperCase()), TX_PLACE)).toBe(TX_ID.toUpperCase());
  });

  it.each(['', '7', `${TX_ID}0`, `0${TX_ID}`, TX_ID.replace('0', 'g'), TX_ID.replaceAll('-', ''), "' OR true --"])(
    'names nothing else: %j',
    (text) => {
      expect(() => decodeCursor(asCursor(text), TX_PLACE)).toThrow(refused);
    },
  );
});

describe('a cursor of a history', () => {
  it('names the last entry of a page', () => {
    for (const seq of ['0', '42', '9'.repeat(18)]) expect(decodeCursor(encodeCursor(seq), HISTORY_PLACE)).toBe(seq);
  });

  it.each(['', '-1', '1x', 'x1', '1.5', '9'.repeat(19), TX_ID])('names nothing else: %j', (text) => {
    expect(() => decodeCursor(asCursor(text), HISTORY_PLACE)).toThrow(refused);
  });
});

describe('a page', () => {
  const MEGABYTE = 1024 * 1024;
  const page = (bytes: readonly number[], limit: number): unknown => {
    const { items, nextCursor } = pageOf([...bytes.entries()], limit, String, ([, of]) => of);
    return [items.length, nextCursor];
  };

  it('ends before it is longer than a megabyte, and has one item at least', () => {
    expect([
      page([], 3),
      page([1, 1, 1], 3),
      page([1, 1, 1, 1], 3),
      page([MEGABYTE - 1, 1, 1], 3),
      page([MEGABYTE, 1], 3),
      page([2 * MEGABYTE, 1], 3),
      page([2 * MEGABYTE], 3),
      page([1, 2 * MEGABYTE], 1),
    ]).toEqual([
      [0, null],
      [3, null],
      [3, '2,1'],
      [2, `1,1`],
      [1, `0,${MEGABYTE}`],
      [1, `0,${2 * MEGABYTE}`],
      [1, null],
      [1, '0,1'],
    ]);
  });
});

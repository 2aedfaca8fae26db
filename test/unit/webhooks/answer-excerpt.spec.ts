import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { excerptOf, readAnswer } from '../../../src/modules/webhooks/infrastructure/answer-excerpt.js';

const REPLACED = '\uFFFD';

describe('the excerpt of an answer', () => {
  it.each<[string, Buffer, string]>([
    ['short text as it is', Buffer.from('größer 💶'), 'größer 💶'],
    ['nothing', Buffer.alloc(0), ''],
    ['a kilobyte of long text', Buffer.alloc(5_000, 'a'), 'a'.repeat(1024)],
    ['no half character at its end', Buffer.from(`${'a'.repeat(1022)}💶`), 'a'.repeat(1022)],
    ['no half character at the end of the answer', Buffer.from('a💶').subarray(0, 3), 'a'],
    ['a replacement for each NUL', Buffer.from('a\0b'), `a${REPLACED}b`],
    ['a replacement for what is no UTF-8', Buffer.from([0x61, 0xff, 0x62]), `a${REPLACED}b`],
    ['no lone surrogates', Buffer.from([0xed, 0xa0, 0x80, 0x61]), `${REPLACED.repeat(3)}a`],
  ])('has %s', (_what, bytes, text) => {
    expect(excerptOf(bytes)).toBe(text);
  });

  it.each([0, 0xff])('has at most a kilobyte when each byte %d is replaced by three', (byte) => {
    expect(Buffer.byteLength(excerptOf(Buffer.alloc(5_000, byte)))).toBe(1023);
  });

  it('is put together from many pieces', async () => {
    const pieces = Readable.from(Array.from({ length: 3_000 }, (_, n) => Buffer.from(String(n % 10))));
    expect(await readAnswer(pieces)).toEqual({ excerpt: '0123456789'.repeat(102) + '0123', failure: null });
  });

  it('is there when the answer breaks off', async () => {
    const broken = new Error('broken');
    const pieces = Readable.from(
      (function* () {
        yield Buffer.from('half');
        throw broken;
      })(),
    );
    expect(await readAnswer(pieces)).toEqual({ excerpt: 'half', failure: broken });
  });
});

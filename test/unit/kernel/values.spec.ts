import { describe, expect, it } from '@jest/globals';
import { InvalidInput } from '../../../src/kernel/errors.js';
import { byteLength, parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { canonicalJson } from '../../../src/kernel/json.js';
import { parseQuantity, toJsonInteger } from '../../../src/kernel/quantities.js';
import { range } from '../../../src/kernel/range.js';
import { distinctSigners, parseSigner, sameSigner, signersOf } from '../../../src/kernel/signer-id.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

const MAX = 2n ** 256n - 1n;

/** An error that tells the client what is wrong and what to do. */
function refused(parse: () => unknown, code: string, message: string, advice: string): void {
  expect(parse).toThrow(InvalidInput);
  expect(parse).toThrow(expect.objectContaining({ code, message, advice }));
}

describe('hex', () => {
  it('has one spelling: lower case', () => {
    expect(parseHex('0xABcd')).toBe('0xabcd');
    expect(parseHex('0x')).toBe('0x');
    expect(parseHash(`0x${'AB'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`);
    expect(parseAddress(`0x${'AB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`);
  });

  it('has as many bytes as pairs of digits', () => {
    expect(byteLength(parseHex('0x'))).toBe(0);
    expect(byteLength(parseHex('0xabcdef'))).toBe(3);
  });

  it.each(['', 'ab', '0xa', '0xag', 'x0xab', '0xab\n', '0xab '])('is not "%s"', (text) => {
    const quoted = JSON.stringify(text);
    refused(
      () => parseHex(text),
      'invalid_hex',
      `not hex bytes: ${quoted}`,
      'send 0x followed by an even number of hex digits',
    );
  });

  it.each([31, 33])('of a hash has not %d bytes', (bytes) => {
    const text = `0x${'ab'.repeat(bytes)}`;
    refused(
      () => parseHash(text),
      'invalid_hash',
      `not a 32-byte hash: "${text}"`,
      'send 0x followed by 64 hex digits',
    );
  });

  it.each([19, 21])('of an address has not %d bytes', (bytes) => {
    const text = `0x${'ab'.repeat(bytes)}`;
    refused(
      () => parseAddress(text),
      'invalid_address',
      `not an address: "${text}"`,
      'send 0x followed by 40 hex digits',
    );
  });

  it.each([
    ['hash', (text: string) => parseHash(text), 64],
    ['address', (text: string) => parseAddress(text), 40],
  ])('of a %s stands alone', (_what, parse, digits) => {
    expect(() => parse(`00x${'a'.repeat(digits)}`)).toThrow(InvalidInput);
    expect(() => parse(`0x${'a'.repeat(digits)} `)).toThrow(InvalidInput);
  });

  it('is quoted in an error up to 80 characters', () => {
    expect(() => parseHex('g'.repeat(80))).toThrow(`not hex bytes: "${'g'.repeat(80)}"`);
    expect(() => parseHex('g'.repeat(81))).toThrow(`not hex bytes: "${'g'.repeat(77)}..."`);
  });
});

describe('an amount', () => {
  it.each<[string | number, bigint]>([
    ['0', 0n],
    ['1000000000000000000', 10n ** 18n],
    ['0x0', 0n],
    ['0xfF', 255n],
    [0, 0n],
    [Number.MAX_SAFE_INTEGER, 2n ** 53n - 1n],
    [MAX.toString(), MAX],
    [`0x${'f'.repeat(64)}`, MAX],
  ])('%p is read', (text, value) => {
    expect(parseQuantity(text)).toBe(value);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '-1',
    '01',
    '1.5',
    '1e3',
    '0x',
    '0xg',
    'x0x1',
    '0x1 ',
    '1n',
    '9'.repeat(79),
    `0x${'1'.repeat(65)}`,
    1.5,
    -1,
    Number.MAX_SAFE_INTEGER + 1,
    Number.NaN,
  ])('%p is none', (text) => {
    const message = 'not a non-negative integer of at most 256 bits';
    refused(
      () => parseQuantity(text),
      'invalid_quantity',
      message,
      'send a decimal string such as "1000000000000000000"',
    );
  });

  it('is at most as large as is allowed', () => {
    expect(parseQuantity('9', 9n)).toBe(9n);
    refused(() => parseQuantity('10', 9n), 'invalid_quantity', 'larger than 9', 'send a smaller number');
    refused(
      () => parseQuantity((MAX + 1n).toString()),
      'invalid_quantity',
      `larger than ${MAX}`,
      'send a smaller number',
    );
  });

  it('is a number in JSON as long as JSON is exact, and then a string', () => {
    expect(toJsonInteger(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
    expect(toJsonInteger(2n ** 53n)).toBe('9007199254740992');
  });
});

it('JSON has one text for equal values, whatever the order of their keys', () => {
  const text = '{"a":[1,{"c":null,"d":"x"}],"b":true}';
  expect(canonicalJson({ b: true, a: [1, { d: 'x', c: null }] })).toBe(text);
  expect(canonicalJson({ a: [1, { c: null, d: 'x' }], b: true })).toBe(text);
  expect(canonicalJson(null)).toBe('null');
});

it('a range has both its ends, and none when they are the wrong way round', () => {
  expect(range(3, 5)).toEqual([3, 4, 5]);
  expect(range(3, 3)).toEqual([3]);
  expect(range(3, 2)).toEqual([]);
  expect(range(9, 2)).toEqual([]);
});

describe('signers', () => {
  const onOtherChain = { ...aSigner(1), chainId: DEV_CHAIN + 1 };

  it('are the same when chain and address are', () => {
    expect(sameSigner(aSigner(1), { ...aSigner(1) })).toBe(true);
    expect(sameSigner(aSigner(1), aSigner(2))).toBe(false);
    expect(sameSigner(aSigner(1), onOtherChain)).toBe(false);
  });

  it('are read from columns', () => {
    expect(parseSigner('31337', aSigner(1).address.toUpperCase().replace('0X', '0x'))).toEqual(aSigner(1));
  });

  it('are listed once each, in their order', () => {
    const list = [aSigner(2), aSigner(1), onOtherChain, aSigner(2)];
    expect(distinctSigners(list)).toEqual([aSigner(2), aSigner(1), onOtherChain]);
    expect(signersOf(list.map((signer) => ({ signer })))).toEqual([aSigner(2), aSigner(1), onOtherChain]);
  });
});

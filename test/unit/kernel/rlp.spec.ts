import { describe, expect, it } from '@jest/globals';
import { encodeRlp, toBeArray } from 'ethers';
import fc from 'fast-check';
import { rlpBytes, rlpInteger, rlpList } from '../../../src/kernel/rlp.js';

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
// Lengths around those at which the header changes.
const bytes = fc
  .oneof(fc.constantFrom(0, 1, 2, 55, 56, 255, 256), fc.nat(300))
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));

describe('RLP', () => {
  it('of bytes and lists is what ethers makes of them', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 20 }), (items) => {
        const list = rlpList(items.map((item) => rlpBytes(Buffer.from(item))));
        expect(hex(list)).toBe(encodeRlp(items));
        expect(hex(rlpList([list, list]))).toBe(encodeRlp([items, items]));
      }),
    );
  });

  it('of a number is that of its bytes without leading zeros', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n), fc.bigInt(0n, 2n ** 256n - 1n)),
        (number) => {
          expect(hex(rlpInteger(number))).toBe(encodeRlp(toBeArray(number)));
        },
      ),
    );
  });

  it.each([-1n, 2n ** 256n])('%d is no number on a chain', (number) => {
    expect(() => rlpInteger(number)).toThrow(RangeError);
  });
});

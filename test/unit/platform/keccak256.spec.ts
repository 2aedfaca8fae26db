import { expect, it } from '@jest/globals';
import { keccak256 as reference } from 'ethers';
import fc from 'fast-check';
import { keccak256 } from '../../../src/platform/crypto/keccak256.js';

it('hashes as ethers does, one after the other', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { minLength: 1, maxLength: 5 }), (messages) => {
      const hashes = messages.map((bytes) => keccak256(bytes));
      expect(hashes.map((hash) => `0x${hash.toString('hex')}`)).toEqual(messages.map((bytes) => reference(bytes)));
    }),
  );
});

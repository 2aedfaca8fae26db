import { expect, it } from '@jest/globals';
import { getCreateAddress } from 'ethers';
import fc from 'fast-check';
import { parseAddress } from '../../../src/kernel/hex.js';
import { contractAddress } from '../../../src/platform/crypto/contract-address.js';

it('a contract has the address that ethers predicts, whatever its creator and the nonce', () => {
  const account = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => parseAddress(`0x${Buffer.from(bytes).toString('hex')}`));
  const nonce = fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }));
  fc.assert(
    fc.property(account, nonce, (from, next) => {
      expect(contractAddress(from, next)).toBe(getCreateAddress({ from, nonce: next }).toLowerCase());
    }),
  );
});

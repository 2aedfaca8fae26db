import { describe, expect, it } from '@jest/globals';
import { TypedDataEncoder, verifyTypedData } from 'ethers';
import { encodeTypedData, type TypedData } from '../../../src/platform/crypto/typed-data.js';
import { keccak256 } from '../../../src/platform/crypto/keccak256.js';
import { devWallet } from '../../support/dev-wallets.js';

/** The example of EIP-712, with its hashes. */
const MAIL: TypedData = {
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};
const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

describe('typed data', () => {
  it('has the bytes and the digest of EIP-712, with the type of its domain or without it', () => {
    const { bytes, digest } = encodeTypedData(MAIL);
    expect(digest).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2');
    expect(`0x${keccak256(bytes).toString('hex')}`).toBe(digest);
    expect(encodeTypedData({ ...MAIL, types: { EIP712Domain: DOMAIN_TYPE, ...MAIL.types } }).digest).toBe(digest);
  });

  it('is what a wallet signs', async () => {
    const { digest } = encodeTypedData(MAIL);
    const signature = devWallet(0).signingKey.sign(digest);
    expect(verifyTypedData(MAIL.domain, { ...MAIL.types }, MAIL.message, signature)).toBe(devWallet(0).address);
    expect(TypedDataEncoder.hash(MAIL.domain, { ...MAIL.types }, MAIL.message)).toBe(digest);
  });

  it.each<[string, Partial<TypedData>, string]>([
    ['another primary type', { primaryType: 'Person' }, 'primaryType is not Mail'],
    [
      'fields of the domain that its type does not have',
      { types: { ...MAIL.types, EIP712Domain: [] } },
      'other fields',
    ],
    ['an unknown type', { types: { Mail: [{ name: 'a', type: 'Nobody' }] } }, 'unknown type'],
    ['a field that is missing', { message: {} }, 'not typed data'],
    ['a value of another kind', { message: { ...MAIL.message, contents: { a: 1 } } }, 'not typed data'],
    ['types that are no lists', { types: { Mail: 7 as never } }, 'it cannot be encoded'],
    ['types that refer to themselves', { types: { Mail: [{ name: 'a', type: 'Mail' }] } }, 'not typed data'],
    ['a contract with a typo', { domain: { ...MAIL.domain, verifyingContract: '0x12' } }, 'not typed data'],
    ['an unknown field of the domain', { domain: { ...MAIL.domain, chain: 1 } as never }, 'not typed data'],
  ])('is refused with %s', (_what, change, words) => {
    expect(() => encodeTypedData({ ...MAIL, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_typed_data', message: expect.stringContaining(words) }),
    );
  });
});

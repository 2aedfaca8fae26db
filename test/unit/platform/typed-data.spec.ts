import { describe, expect, it } from '@jest/globals';
import { recoverAddress } from 'ethers';
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

const TOKENS: TypedData = {
  domain: { name: 'T', version: '1', chainId: 31337, verifyingContract: '0x5fbdb2315678afecb367f032d93f642f64180aa3' },
  types: {
    Item: [
      { name: 'token', type: 'address' },
      { name: 'amounts', type: 'uint256[2]' },
    ],
    Order: [
      { name: 'items', type: 'Item[]' },
      { name: 'allowed', type: 'bool' },
      { name: 'delta', type: 'int128' },
      { name: 'tag', type: 'bytes4' },
      { name: 'note', type: 'string' },
    ],
  },
  primaryType: 'Order',
  message: {
    items: [{ token: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', amounts: ['1', '2'] }],
    allowed: false,
    delta: '-5',
    tag: '0xdeadbeef',
    note: 'hi',
  },
};

describe('typed data', () => {
  it('has the bytes and the digest of EIP-712, with the type of its domain or without it', () => {
    const { bytes, digest } = encodeTypedData(MAIL);
    expect(digest).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2');
    expect(`0x${keccak256(bytes).toString('hex')}`).toBe(digest);
    expect(encodeTypedData({ ...MAIL, types: { EIP712Domain: DOMAIN_TYPE, ...MAIL.types } }).digest).toBe(digest);
  });

  it('with lists, numbers below zero and a bool has the digest that `cast wallet sign --data` signs', () => {
    const signature =
      '0x4207718dc4680ccd4f5dbb8ab21d48677cb9a79de4d39f973512e3e0356f35aa70d261ddf1938939d4fbab9cb73aa104346bd8cd90dde378420b3e203fed265e1b';
    expect(recoverAddress(encodeTypedData(TOKENS).digest, signature)).toBe(devWallet(0).address);
  });

  it.each<[string, Partial<TypedData>, string]>([
    ['another primary type', { primaryType: 'Person' }, 'just name, wallet'],
    ['a primary type that is not there', { primaryType: 'Letter' }, 'types has no primaryType'],
    [
      'a primary type that another one has',
      { primaryType: 'Person', message: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' } },
      'primaryType is not Mail',
    ],
    ['another type of its domain', { types: { ...MAIL.types, EIP712Domain: [] } }, 'EIP712Domain must be'],
    ['an unknown type', { types: { Mail: [{ name: 'a', type: 'Nobody' }] }, message: { a: 1 } }, 'unknown type'],
    ['a field that is missing', { message: {} }, 'does not have just contents, from, to'],
    ['a field that no type has', { message: { ...MAIL.message, more: 1 } }, 'does not have just'],
    ['a value of another kind', { message: { ...MAIL.message, contents: { a: 1 } } }, 'it has no string'],
    ['a list for an object', { message: { ...MAIL.message, from: [] } }, 'a Person does not have just'],
    ['types that are no lists', { types: { Mail: 7 as never } }, 'types.Mail is not a list'],
    ['a field without a type', { types: { Mail: [null as never] } }, 'types.Mail is not a list'],
    [
      'types that refer to themselves',
      { types: { Mail: [{ name: 'a', type: 'Mail[]' }] }, message: { a: [] } },
      'circular',
    ],
    [
      'more types than eight',
      { types: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`T${n}`, []])) },
      '8 types',
    ],
    ['many brackets', { types: { Mail: [{ name: 'a', type: 'bool[][][][]' }] }, message: { a: [] } }, 'is not a list'],
    ['a contract with a typo', { domain: { ...MAIL.domain, verifyingContract: '0x12' } }, 'not typed data'],
    ['an unknown field of the domain', { domain: { ...MAIL.domain, chain: 1 } as never }, 'domain.chain number'],
    ['an empty field of the domain', { domain: { ...MAIL.domain, version: null } }, 'domain.version object'],
  ])('is refused with %s', (_what, change, words) => {
    expect(() => encodeTypedData({ ...MAIL, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_typed_data', message: expect.stringContaining(words) }),
    );
  });

  it.each([
    ['a text for a bool', { allowed: 'false' }, 'it has no bool'],
    ['a bool for a text', { note: true }, 'it has no string'],
    ['no list', { items: {} }, 'it has no Item[]'],
    [
      'a list of another length',
      { items: [{ token: TOKENS.domain.verifyingContract, amounts: ['1'] }] },
      'no uint256[2]',
    ],
    [
      'what every object inherits',
      { items: [Object.create({ token: '0x', amounts: [] })] },
      'a Item does not have just',
    ],
  ])('is refused with %s in its message', (_what, change, words) => {
    expect(() => encodeTypedData({ ...TOKENS, message: { ...TOKENS.message, ...change } })).toThrow(
      expect.objectContaining({ code: 'invalid_typed_data', message: expect.stringContaining(words) }),
    );
  });
});

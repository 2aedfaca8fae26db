import { describe, expect, it } from '@jest/globals';
import { Signature, SigningKey, Transaction } from 'ethers';
import fc from 'fast-check';
import { type Address, type Hash, parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { type EncodableDraft, Envelope } from '../../../src/modules/sending/infrastructure/envelope.js';
import type { SignedAuthorization, TxType } from '../../../src/modules/ledger/index.js';
import { aHash } from '../../support/builders.js';

const KEY = new SigningKey(`0x${'11'.repeat(32)}`);
const SIGNER = { chainId: 31337, address: parseAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266') };

const hex = (bytes: Uint8Array): ReturnType<typeof parseHex> => parseHex(`0x${Buffer.from(bytes).toString('hex')}`);
const bytes = (length: number): fc.Arbitrary<ReturnType<typeof parseHex>> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(hex);
const address: fc.Arbitrary<Address> = bytes(20).map(parseAddress);
const upTo = (bits: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n), fc.bigInt({ min: 0n, max: 2n ** bits - 1n }));

const TYPES = [0, 1, 2, 3, 4] as const;
const authorization = fc
  .record({ chainId: fc.constantFrom(0n, 1n, 31337n), address, nonce: upTo(63n), r: bytes(32), s: bytes(31) })
  .map((item) => ({ ...item, s: parseHex(`0x00${item.s.slice(2)}`), yParity: 1 as const }));

/** Content that only one type has. */
function extrasOf(type: TxType, blobs: readonly Hash[], authorizations: readonly SignedAuthorization[]): object {
  if (type === 3) return { blobHashes: blobs };
  return type === 4 ? { authorizationList: authorizations } : {};
}

const draft: fc.Arbitrary<EncodableDraft> = fc
  .record({
    type: fc.constantFrom(...TYPES),
    chainId: fc.constantFrom(1, 127, 128, 31337, 11155111),
    nonce: upTo(53n),
    to: fc.option(address),
    value: upTo(256n),
    // Lengths around those at which RLP changes its header.
    data: fc
      .oneof(fc.constantFrom(0, 1, 55, 56, 255, 256), fc.nat(300))
      .map((length) => hex(new Uint8Array(length).fill(0xab))),
    gasLimit: upTo(63n),
    tip: upTo(100n),
    headroom: upTo(100n),
    maxFeePerBlobGas: upTo(100n),
    accessList: fc.array(fc.record({ address, storageKeys: fc.array(bytes(32), { maxLength: 3 }) }), { maxLength: 3 }),
    blobs: fc.array(bytes(31), { minLength: 1, maxLength: 6 }),
    authorizations: fc.array(authorization, { minLength: 1, maxLength: 3 }),
  })
  .map(({ type, chainId, to, tip, headroom, maxFeePerBlobGas, accessList, blobs, authorizations, ...rest }) => ({
    ...rest,
    ...extrasOf(
      type,
      blobs.map((blob) => parseHash(`0x01${blob.slice(2)}`)),
      authorizations,
    ),
    to: type > 2 ? (to ?? SIGNER.address) : to,
    accessList: type === 0 ? [] : accessList,
    signer: { ...SIGNER, chainId },
    kind: 'payload',
    txId: 'any',
    fees: {
      maxFeePerGas: tip + headroom,
      maxPriorityFeePerGas: type < 2 ? tip + headroom : tip,
      ...(type === 3 && { maxFeePerBlobGas }),
    },
    type,
    pricedAtBlock: null,
  }));

function byEthers({ signer, nonce, to, value, data, gasLimit, fees, accessList, type, ...extras }: EncodableDraft) {
  const { maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas } = fees;
  return Transaction.from({
    type,
    chainId: signer.chainId,
    nonce: Number(nonce),
    to,
    value,
    data,
    gasLimit,
    ...(type < 2 ? { gasPrice: maxFeePerGas } : { maxFeePerGas, maxPriorityFeePerGas }),
    ...(type > 0 && {
      accessList: accessList.map(({ address: account, storageKeys }) => ({
        address: account,
        storageKeys: [...storageKeys],
      })),
    }),
    ...(type === 3 && {
      maxFeePerBlobGas: maxFeePerBlobGas ?? null,
      blobVersionedHashes: [...(extras.blobHashes ?? [])],
    }),
    ...(type === 4 && {
      authorizationList: (extras.authorizationList ?? []).map(({ yParity, r, s, ...item }) => ({
        ...item,
        signature: Signature.from({ r, s, yParity }),
      })),
    }),
  });
}

const plain: EncodableDraft = {
  signer: SIGNER,
  nonce: 0n,
  kind: 'payload',
  txId: 'any',
  to: SIGNER.address,
  value: 1n,
  data: parseHex('0x'),
  accessList: [],
  gasLimit: 21_000n,
  fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
  type: 2,
  pricedAtBlock: null,
};

const BLOB_FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };
const SIGNED: SignedAuthorization = {
  chainId: 1n,
  address: SIGNER.address,
  nonce: 0n,
  yParity: 0,
  r: aHash(1),
  s: aHash(2),
};

describe('an envelope', () => {
  it('has the digest, the bytes and the hash that ethers gives it, whatever the type and the draft', () => {
    fc.assert(
      fc.property(draft, (item) => {
        const envelope = new Envelope(item);
        const expected = byEthers(item);
        expect(envelope.unsigned.digest).toBe(expected.unsignedHash);
        const { r, s, yParity } = KEY.sign(envelope.unsigned.digest);
        expected.signature = Signature.from({ r, s, yParity });
        const sealed = envelope.signed({ r: parseHex(r), s: parseHex(s), yParity });
        expect(sealed).toEqual({ raw: expected.serialized, txHash: expected.hash });
      }),
      { numRuns: 500 },
    );
  });

  it('is encoded as ethers does it when its data are longer than two bytes can count', () => {
    const long = { ...plain, data: hex(new Uint8Array(70_000).fill(0xab)) };
    expect(new Envelope(long).unsigned.digest).toBe(byEthers(long).unsignedHash);
  });

  it('has no leading zeros in a signature whose numbers are short', () => {
    const r = parseHex(`0x00${'ab'.repeat(31)}`);
    const s = parseHex(`0x0000${'01'.repeat(30)}`);
    const expected = byEthers(plain);
    expected.signature = Signature.from({ r, s, yParity: 1 });
    expect(new Envelope(plain).signed({ r, s, yParity: 1 }).raw).toBe(expected.serialized);
  });

  it.each<[string, Partial<EncodableDraft>]>([
    ['a value of more than 256 bits', { value: 2n ** 256n }],
    ['a negative value', { value: -1n }],
    ['a nonce that no chain can count to', { nonce: 2n ** 64n - 1n }],
    ['a tip above the fee cap', { fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 2n } }],
    ['blobs without a receiver', { type: 3, to: null, blobHashes: [aHash(1)], fees: BLOB_FEES }],
    ['blobs in another type', { blobHashes: [aHash(1)] }],
    ['authorizations in another type', { authorizationList: [SIGNED] }],
    ['an access list in a legacy one', { type: 0, accessList: [{ address: SIGNER.address, storageKeys: [] }] }],
    ['a list of no blobs', { type: 3, fees: BLOB_FEES }],
    ['blobs without a fee for them', { type: 3, blobHashes: [aHash(1)] }],
    ['authorizations without a receiver', { type: 4, to: null, authorizationList: [SIGNED] }],
    ['a list of no authorizations', { type: 4 }],
    [
      'a storage key that is not a word',
      { accessList: [{ address: SIGNER.address, storageKeys: [parseHex('0x01')] }] },
    ],
  ])('is not made of %s', (_, change) => {
    expect(() => new Envelope({ ...plain, ...change })).toThrow(RangeError);
  });
});

import { describe, expect, it } from '@jest/globals';
import { Signature, SigningKey, Transaction } from 'ethers';
import fc from 'fast-check';
import { type Address, parseAddress, parseHex } from '../../../src/kernel/hex.js';
import type { AttemptDraft } from '../../../src/modules/sending/application/attempt-signer.js';
import { Eip1559Envelope } from '../../../src/modules/sending/infrastructure/eip1559-envelope.js';

const KEY = new SigningKey(`0x${'11'.repeat(32)}`);
const SIGNER = { chainId: 31337, address: parseAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266') };

const hex = (bytes: Uint8Array): ReturnType<typeof parseHex> => parseHex(`0x${Buffer.from(bytes).toString('hex')}`);
const bytes = (length: number): fc.Arbitrary<ReturnType<typeof parseHex>> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(hex);
const address: fc.Arbitrary<Address> = bytes(20).map(parseAddress);
const upTo = (bits: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n), fc.bigInt({ min: 0n, max: 2n ** bits - 1n }));

const draft: fc.Arbitrary<AttemptDraft> = fc
  .record({
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
    accessList: fc.array(fc.record({ address, storageKeys: fc.array(bytes(32), { maxLength: 3 }) }), { maxLength: 3 }),
  })
  .map(({ chainId, tip, headroom, ...rest }) => ({
    ...rest,
    signer: { ...SIGNER, chainId },
    kind: 'payload',
    txId: 'any',
    fees: { maxFeePerGas: tip + headroom, maxPriorityFeePerGas: tip },
    type: 2,
    pricedAtBlock: null,
  }));

function byEthers({ signer, nonce, to, value, data, gasLimit, fees, accessList }: AttemptDraft): Transaction {
  return Transaction.from({
    type: 2,
    chainId: signer.chainId,
    nonce: Number(nonce),
    to,
    value,
    data,
    gasLimit,
    ...fees,
    accessList: accessList.map(({ address: account, storageKeys }) => ({
      address: account,
      storageKeys: [...storageKeys],
    })),
  });
}

const plain: AttemptDraft = {
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

describe('an envelope', () => {
  it('has the digest, the bytes and the hash that ethers gives it, whatever the draft', () => {
    fc.assert(
      fc.property(draft, (item) => {
        const envelope = new Eip1559Envelope(item);
        const expected = byEthers(item);
        expect(envelope.digest).toBe(expected.unsignedHash);
        const { r, s, yParity } = KEY.sign(envelope.digest);
        expected.signature = Signature.from({ r, s, yParity });
        const sealed = envelope.signed({ r: parseHex(r), s: parseHex(s), yParity });
        expect(sealed).toEqual({ raw: expected.serialized, txHash: expected.hash });
      }),
      { numRuns: 200 },
    );
  });

  it('is encoded as ethers does it when its data are longer than two bytes can count', () => {
    const long = { ...plain, data: hex(new Uint8Array(70_000).fill(0xab)) };
    expect(new Eip1559Envelope(long).digest).toBe(byEthers(long).unsignedHash);
  });

  it('has no leading zeros in a signature whose numbers are short', () => {
    const r = parseHex(`0x00${'ab'.repeat(31)}`);
    const s = parseHex(`0x0000${'01'.repeat(30)}`);
    const expected = byEthers(plain);
    expected.signature = Signature.from({ r, s, yParity: 1 });
    expect(new Eip1559Envelope(plain).signed({ r, s, yParity: 1 }).raw).toBe(expected.serialized);
  });

  it.each<[string, Partial<AttemptDraft>]>([
    ['a value of more than 256 bits', { value: 2n ** 256n }],
    ['a negative value', { value: -1n }],
    ['a nonce that no chain can count to', { nonce: 2n ** 64n - 1n }],
    ['a tip above the fee cap', { fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 2n } }],
    [
      'a storage key that is not a word',
      { accessList: [{ address: SIGNER.address, storageKeys: [parseHex('0x01')] }] },
    ],
  ])('is not made of %s', (_, change) => {
    expect(() => new Eip1559Envelope({ ...plain, ...change })).toThrow(RangeError);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { remoteKeys } from '../../../src/custody/remote-keys.js';
import { type Hash, parseHex } from '../../../src/kernel/hex.js';
import type { EcdsaSignature, Signable } from '../../../src/kernel/signing.js';
import { aHash, aSigner } from '../../support/builders.js';
import { type Gate, gate } from '../../support/gate.js';

let asked: Hash[];
let gates: Map<Hash, Gate>;
let refused: Set<Hash>;

beforeEach(() => {
  asked = [];
  gates = new Map();
  refused = new Set();
});

const item = (n: number): Signable => ({ kind: 2, bytes: new Uint8Array(), digest: aHash(n) });
const items = (count: number, from = 0): Signable[] => Array.from({ length: count }, (_, n) => item(from + n));
const signatureOf = ({ digest }: Signable): EcdsaSignature => ({ r: digest, s: parseHex('0x01'), yParity: 0 });

function aKey() {
  const sign = async (one: Signable): Promise<EcdsaSignature> => {
    asked.push(one.digest);
    await gates.get(one.digest)?.opened;
    if (refused.has(one.digest)) throw new Error('sealed');
    return signatureOf(one);
  };
  const [key] = remoteKeys([{ address: aSigner().address, reference: { type: 'toy' }, sign }]);
  if (!key) throw new Error('there is no key');
  return key;
}

describe('a key of a remote custody', () => {
  it('gives each of two batches at once its own signatures', async () => {
    const key = aKey();
    const held = gate();
    gates.set(item(3).digest, held);
    const slow = key.sign(items(3, 1));
    const quick = await key.sign(items(2, 10));
    held.open();
    expect(quick).toEqual(items(2, 10).map(signatureOf));
    expect(await slow).toEqual(items(3, 1).map(signatureOf));
  });

  it('keeps what it signed in a batch that was given up, and asks for nothing more of it', async () => {
    const key = aKey();
    const held = gate();
    for (const { digest } of items(16, 16)) gates.set(digest, held);
    const late = new AbortController();
    const first = expect(key.sign(items(100), late.signal)).rejects.toThrow('took too long');
    while (asked.length < 32) await new Promise(setImmediate);
    late.abort();
    held.open();
    await first;
    expect(asked).toHaveLength(32);
    expect(await key.sign(items(100))).toEqual(items(100).map(signatureOf));
    expect(asked).toHaveLength(100);
  });

  it('keeps no more than 1,000, the newest, and none that was given', async () => {
    const key = aKey();
    refused.add(item(1_200).digest);
    await expect(key.sign(items(1_201))).rejects.toThrow('sealed');
    refused.clear();
    asked = [];
    await key.sign(items(1_201));
    expect(asked).toEqual([...items(200), item(1_200)].map(({ digest }) => digest));
    await key.sign([item(1_199)]);
    expect(asked.at(-1)).toBe(item(1_199).digest);
  });
});

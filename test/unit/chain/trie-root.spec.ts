import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { trieRoot } from '../../../src/modules/chain/infrastructure/trie-root.js';

const bytes = (text: string): Buffer => (text.startsWith('0x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text));

const rootOf = (entries: readonly (readonly [string, string])[]): string =>
  trieRoot(entries.map(([key, value]) => [bytes(key), bytes(value)])).toString('hex');

/** ethereum/tests, TrieTests/trieanyorder.json. */
const KNOWN: readonly [name: string, entries: Record<string, string>, root: string][] = [
  ['one entry', { A: 'a'.repeat(50) }, 'd23786fb4a010da3ce639d66d5e904a11dbc02746d1ce25029e53290cabf28ab'],
  [
    'a key that is the start of another',
    { doe: 'reindeer', dog: 'puppy', dogglesworth: 'cat' },
    '8aad789dff2f538bca5d8ea56e8abe10f4c7ba3a5dea95fea4cd6e7c3a1168d3',
  ],
  [
    'several that start alike, and one that does not',
    { do: 'verb', horse: 'stallion', doge: 'coin', dog: 'puppy' },
    '5991bb8c6514148a29db676a14ac506cd2cd5775ace63c30a4fe457715e9ac84',
  ],
  ['two entries', { foo: 'bar', food: 'bass' }, '17beaa1648bafa633cda809c90c04af50fc8aed3cb40d16efbddee6fdf63c4c3'],
  [
    'values so small that nodes stand in their parents',
    { be: 'e', dog: 'puppy', bed: 'd' },
    '3f67c7a47520f79faa29255d2d3c084a7a6df0453116ed7232ff10277a8be68b',
  ],
  ['an extension', { test: 'test', te: 'testy' }, '8452568af70d8d140f58d941338542f645fcca50094b20f3c3d8c3df49337928'],
  [
    'keys of any bytes',
    { '0x0045': '0x0123456789', '0x4500': '0x9876543210' },
    '285505fcabe84badc8aa310e2aae17eddc7d120aabec8a476902c8184b3a3503',
  ],
];

describe('the root of a trie', () => {
  it('of nothing is the well-known one', () => {
    expect(rootOf([])).toBe('56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
  });

  it.each(KNOWN)('of %s is the one of the Ethereum tests', (_, entries, root) => {
    expect(rootOf(Object.entries(entries))).toBe(root);
  });

  it('does not depend on the order of the entries, and changes with every one of them', () => {
    const entry = fc.tuple(
      fc.uint8Array({ minLength: 1, maxLength: 3 }).map((key) => `0x${Buffer.from(key).toString('hex')}`),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }).map((value) => `v${value}`),
    );
    const entries = fc.uniqueArray(entry, { selector: ([key]) => key, minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(entries, fc.nat(), (items, any) => {
        const root = rootOf(items);
        expect(rootOf([...items].reverse())).toBe(root);
        const changed = any % items.length;
        expect(rootOf(items.map(([key, value], i) => [key, i === changed ? `${value}!` : value]))).not.toBe(root);
        expect(rootOf(items.filter((_, i) => i !== changed))).not.toBe(root);
      }),
    );
  });
});

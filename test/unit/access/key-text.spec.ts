import { expect, it } from '@jest/globals';
import {
  hashOf,
  isSameHash,
  keyIdOf,
  keyText,
  newSecret,
  parseKeyText,
  prefixOf,
  shownOf,
} from '../../../src/modules/access/application/key-text.js';

const ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';

it('a key is its prefix, which has the id, and a secret of 256 bits', () => {
  const secret = newSecret();
  const text = keyText({ id: ID, secret });
  expect(text).toBe(`ls_019aa2f47a1c7c3e9a523f4d5e6f7a8b_${secret}`);
  expect(text.startsWith(prefixOf(ID))).toBe(true);
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(parseKeyText(text)).toEqual({ id: ID, secret });
  expect(newSecret()).not.toBe(secret);
});

it.each([
  '',
  'ls_',
  `ls_${ID}_x`,
  `ls_019aa2f47a1c7c3e9a523f4d5e6f7a8b_${'a'.repeat(42)}`,
  `x${keyText({ id: ID, secret: newSecret() })}`,
])('no key: %p', (text) => expect(parseKeyText(text)).toBeNull());

it('an id is read as lists show it, as it is in front of a key, and of a key that leaked', () => {
  const texts = [
    ID.toUpperCase(),
    prefixOf(ID),
    keyText({ id: ID, secret: newSecret() }),
    'payouts',
    `${prefixOf(ID)}_`,
  ];
  expect(texts.map(keyIdOf)).toEqual([ID, ID, ID, null, null]);
});

it('nothing of the secret is shown of a key with a typo, where an id should be', () => {
  expect(shownOf(`${keyText({ id: ID, secret: newSecret() })}x`)).toBe(prefixOf(ID));
});

it('only the hash of the same secret is the same', () => {
  const secret = newSecret();
  expect(hashOf(secret)).toMatch(/^[0-9a-f]{64}$/);
  expect([isSameHash(hashOf(secret), hashOf(secret)), isSameHash(hashOf(secret), hashOf(newSecret()))]).toEqual([
    true,
    false,
  ]);
});

import { expect, it } from '@jest/globals';
import { scopesOf, subjectOf } from '../../../src/modules/access/domain/token-claims.js';

it.each<[unknown, readonly string[]]>([
  ['tx:read', ['tx:read']],
  ['openid tx:write email tx:read', ['tx:read', 'tx:write']],
  [
    ['tx:write', 'nonces', 'tx:write', 7, null],
    ['tx:write', 'nonces'],
  ],
  ['tx:read,tx:write', []],
  ['TX:READ tx:* *', []],
  [['tx:read tx:write'], []],
  ['', []],
  [undefined, []],
  [null, []],
  [7, []],
  [true, []],
  [{ 0: 'tx:read', length: 1 }, []],
  [[['tx:read']], []],
])('%p gives %p', (claim, scopes) => {
  expect(scopesOf(claim)).toEqual(scopes);
});

it.each(['a', 'auth0|5f', 'Ünï 😀', 'x'.repeat(255)])('%p is a name', (subject) => {
  expect(subjectOf(subject)).toBe(subject);
});

it.each([undefined, null, '', 'x'.repeat(256), 7, ['a'], 'a\0', 'a\nb', 'a\u001b[2J', 'a\ud800'])(
  '%p names nobody',
  (subject) => {
    expect(subjectOf(subject)).toBeNull();
  },
);

import { describe, expect, it } from '@jest/globals';
import {
  isSameChain,
  isSuspect,
  originFrom,
  standingOf,
} from '../../../src/modules/lost-commits/domain/chain-and-books.js';
import { aSigner } from '../../support/builders.js';

const BOOKS = { signer: aSigner(), begun: true, usedBelow: 5n, block: 90, origin: ['0xa', '0xb'], behind: null };
const BEHIND = { cause: 'LOWER_NONCE', chainNonce: 3, usedBelow: 5, block: null } as const;

it.each([
  ['nothing is stored', [], ['0xa', '0xb'], true],
  ['both blocks are as stored', ['0xa', '0xb'], ['0xa', '0xb'], true],
  ['only one is told', ['0xa', '0xb'], ['0xa', null], true],
  ['the genesis is another one', ['0xa', '0xb'], ['0xc', '0xb'], false],
  ['the block after the same genesis is another one', ['0xa', '0xb'], ['0xa', '0xc'], false],
  ['only the genesis is stored', ['0xa'], ['0xa', '0xc'], true],
  ['nothing is told', ['0xa'], [null, null], null],
])('whether a chain is that of the books: %s', (_what, origin, told, expected) => {
  expect(isSameChain(origin, told)).toBe(expected);
});

it('the block after the genesis is stored when no reorg replaces it any more', () => {
  expect([
    originFrom([]),
    originFrom(['0xa', '0xb', null]),
    originFrom(['0xa', null, '0xc']),
    originFrom(['0xa', '0xb', '0xc']),
    originFrom([null, '0xb', '0xc']),
  ]).toEqual([[], ['0xa'], ['0xa'], ['0xa', '0xb'], []]);
});

describe('one answer', () => {
  it.each([
    ['the same count', {}, 5n, [], false],
    ['a higher count', {}, 9n, [], false],
    ['a lower count', {}, 4n, [], true],
    ['no count', {}, null, [], false],
    ['another genesis', {}, 9n, ['0xc'], true],
    ['the same count, of a signer that is held', { behind: BEHIND }, 5n, [], true],
  ])('%s', (_what, more, count, told, expected) => {
    expect(isSuspect({ ...BOOKS, ...more }, count, told)).toBe(expected);
  });
});

it.each([
  [false, true, 'even'],
  [false, null, 'even'],
  [true, true, 'behind'],
  [false, false, 'behind'],
  [null, false, 'behind'],
  [null, true, 'unknown'],
] as const)('endpoints that say lower: %s, same chain: %s', (isLower, isSame, expected) => {
  expect(standingOf(isLower, isSame)).toBe(expected);
});

import { describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import { agreedHead } from '../../../src/modules/transactions/application/agreed-head.js';
import { aHash } from '../../support/builders.js';

const HEAD = 10;

describe('the head that the endpoints agree on', () => {
  it.each<[string, readonly number[], object | null]>([
    ['is the newest', [HEAD, HEAD - 1], { number: HEAD, hash: aHash(HEAD) }],
    ['is the one before it while some are a moment behind', [HEAD - 1], { number: HEAD - 1, hash: aHash(HEAD - 1) }],
    ['is not known when it is further back', [HEAD - 2], null],
  ])('%s', async (_what, known, expected) => {
    expect(await agreedHead(tellingOf(known), HEAD)).toEqual(expected);
  });

  it('is not looked for below the first block', async () => {
    const asked: number[] = [];
    expect(await agreedHead(tellingOf([], asked), 0)).toBeNull();
    expect(asked).toEqual([0]);
  });
});

function tellingOf(known: readonly number[], asked: number[] = []) {
  return {
    agreedBlocks: async (numbers: readonly number[]): Promise<(Hash | null)[]> => {
      asked.push(...numbers);
      return numbers.map((number) => (known.includes(number) ? aHash(number) : null));
    },
  };
}

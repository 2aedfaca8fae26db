import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { BlockRef, ChainBlocks } from '../../../src/modules/chain/index.js';
import { type Search, SearchListings } from '../../../src/modules/nonces/application/search-listings.js';
import { aHash } from '../../support/builders.js';

const OURS = aHash(0xcafe);
const block = (number: number): BlockRef => ({ number, hash: aHash(number) });

/** The block that lists ours; null when none does. */
let listedIn: number | null;
/** Heights that the endpoint tells no block for. */
let missing: ReadonlySet<number>;
/** The parent of the block above a missing one. */
let parentOf: (number: number) => Hash;
let read: number[];
let listings: SearchListings;

beforeEach(() => {
  [listedIn, missing, read, listings] = [null, new Set(), [], new SearchListings()];
  parentOf = (number) => aHash(Math.max(0, number - 1));
});

const chain = {
  blocks: async (numbers: readonly number[]) => {
    read.push(...numbers);
    return numbers.map((number) =>
      missing.has(number)
        ? null
        : {
            ...{
              ...block(number),
              parentHash: parentOf(number),
              timestamp: 0,
              baseFeePerGas: null,
              receiptsRoot: null,
            },
            transactionHashes: number === listedIn ? [aHash(1), OURS] : [aHash(2)],
          },
    );
  },
} as unknown as ChainBlocks;

const search = (of: Partial<Search> = {}): Search => ({
  ...{ key: 'a', hashes: [aHash(3), OURS], usedAt: block(1_000), sentAt: 900 },
  ...of,
});

/** undefined while it is not done. */
const look = async (...searches: readonly Search[]) => {
  const found = await listings.execute(chain, searches);
  return searches.map(({ key }) => found.get(key));
};

it.each([1_000, 951, 900, 836])('finds the block that lists ours, wherever it is: %p', async (number) => {
  listedIn = number;
  expect(await look(search())).toEqual([block(number)]);
});

it('finds none where no block since it was sent lists ours, and reads no older ones', async () => {
  expect(await look(search())).toEqual([null]);
  expect([Math.min(...read), Math.max(...read)]).toEqual([836, 1_000]);
  expect(await look(search({ sentAt: 0, usedAt: block(9) }))).toEqual([null]);
});

it('reads so many blocks in one look, and goes on below them in the next', async () => {
  listedIn = 100;
  const far = search({ sentAt: 50 });
  expect(await look(far)).toEqual([undefined]);
  expect(read).toHaveLength(500);
  expect(await look(far)).toEqual([block(100)]);
  expect(new Set(read).size).toBe(read.length);
});

it('begins again where the nonce is known to be used at another block', async () => {
  await look(search({ sentAt: 0 }));
  read = [];
  await look(search({ sentAt: 0, usedAt: block(1_001) }));
  expect(Math.max(...read)).toBe(1_001);
});

it('begins again after it was forgotten', async () => {
  await look(search({ sentAt: 0 }));
  listings.forget('a');
  read = [];
  await look(search({ sentAt: 0 }));
  expect(Math.max(...read)).toBe(1_000);
});

it.each([
  ['it is not known since when it may be out', null],
  ['the price is of a block that is not there yet', 10_001],
])('reads five thousand blocks where %s', async (_words, sentAt) => {
  const far = search({ sentAt, usedAt: block(10_000) });
  let found;
  for (let looks = 0; looks < 11; looks += 1) [found] = await look(far);
  expect([found, Math.min(...read)]).toEqual([null, 4_936]);
});

describe('a height without a block', () => {
  it('is passed where the blocks around it are parent and child', async () => {
    [missing, listedIn] = [new Set([950, 949]), 948];
    parentOf = (number) => aHash(number === 951 ? 948 : number - 1);
    expect(await look(search())).toEqual([block(948)]);
  });

  it('stops the search where a block is missing, which is asked for again', async () => {
    missing = new Set([950]);
    listedIn = 950;
    expect(await look(search())).toEqual([undefined]);
    expect(await look(search())).toEqual([undefined]);
    missing = new Set();
    expect(await look(search())).toEqual([block(950)]);
  });

  it('is no loss below the first block of interest', async () => {
    missing = new Set(Array.from({ length: 64 }, (_, index) => 836 + index));
    expect(await look(search())).toEqual([null]);
  });
});

it('searches for a few at a time, those first that waited longest', async () => {
  const searches = Array.from('abcdef', (key) => search({ key }));
  expect(await look(...searches)).toEqual([null, null, null, null, undefined, undefined]);
  const far = Array.from('ghijkl', (key) => search({ key, sentAt: 0 }));
  await look(...far);
  listedIn = 999;
  expect(await look(...far)).toEqual([undefined, undefined, undefined, undefined, block(999), block(999)].slice());
});

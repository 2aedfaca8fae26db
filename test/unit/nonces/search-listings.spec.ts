import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import { type Block, type BlockRef, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { type Search, SearchListings } from '../../../src/modules/nonces/application/search-listings.js';
import { slotKey } from '../../../src/modules/signers/index.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [OURS, OTHER_OF_OURS] = [aHash(0xcafe), aHash(0xcaff)];
const HOUR_SECONDS = 3_600;
const WEEK_SECONDS = 604_800;
const block = (number: number, hash = hashOf(number)): BlockRef => ({ number, hash });

/** The block that lists ours; null when none does. */
let listedIn: number | null;
/** What is in its list. */
let listed: Hash;
/** Heights that the endpoint tells no block for. */
let missing: ReadonlySet<number>;
/** The parent of the block above a missing one. */
let parentOf: (number: number) => Hash;
/** Heights whose lists are not whole. */
let cut: ReadonlySet<number>;
/** From which height on another branch took the place of the blocks. */
let forkedAt: number;
let timestampOf: (number: number) => number | null;
/** What a read waits for. */
let beforeRead: (numbers: readonly number[]) => Promise<void>;
let read: number[];
/** Ends when nobody waits any more. */
let wait: () => Promise<void>;
let log: RecordingLog;
let listings: SearchListings;

function hashOf(number: number): Hash {
  // The hash of zeros is that of no block.
  return aHash(number === 0 ? 2_000_000 : number + (number >= forkedAt ? 1_000_000 : 0));
}

beforeEach(() => {
  [listedIn, listed, missing, cut, read, forkedAt] = [null, OURS, new Set(), new Set(), [], Infinity];
  parentOf = (number) => hashOf(Math.max(0, number - 1));
  timestampOf = (number) => number;
  beforeRead = () => Promise.resolve();
  wait = () => new Promise(() => undefined);
  log = new RecordingLog();
  listings = new SearchListings(log, new FakeClock(), { pause: () => wait() });
});

const chain = fakeOf(EthersChainConnector, {
  chainId: DEV_CHAIN,
  blocks: async (numbers) => {
    await beforeRead(numbers);
    read.push(...numbers);
    return numbers.map((number): Block | null => {
      if (missing.has(number)) return null;
      return {
        ...block(number),
        parentHash: parentOf(number),
        timestamp: timestampOf(number),
        baseFeePerGas: null,
        receiptsRoot: null,
        transactionHashes: number === listedIn ? [aHash(1), listed] : [aHash(2)],
        listsAll: !cut.has(number),
      };
    });
  },
});

const search = (of: Partial<Search> = {}): Search => ({
  ...{ slot: { signer: aSigner(1), nonce: 7n }, hashes: [aHash(3), OURS], usedAt: block(1_000), head: 1_100 },
  ...{ since: { block: 900, time: Infinity }, seenAt: 0 },
  ...of,
});
const since = (number: number | null, time = Infinity): Partial<Search> => ({ since: { block: number, time } });
const slotOf = (signer: number, nonce = 7n): Partial<Search> => ({ slot: { signer: aSigner(signer), nonce } });

/** undefined while it is not done. */
const look = async (...searches: readonly Search[]) => {
  const found = await listings.execute(chain, searches);
  return searches.map(({ slot }) => found.get(slotKey(slot)));
};

it.each([1_064, 1_000, 951, 900, 836])('finds the block that lists ours, wherever it is: %p', async (number) => {
  listedIn = number;
  expect(await look(search())).toEqual([block(number)]);
  expect(await look(search())).toEqual([block(number)]);
});

it('begins above the block at which the nonce was last seen to be used: of the first one, state and number are two answers', async () => {
  listedIn = 1_090;
  expect(await look(search({ seenAt: 1_080 }))).toEqual([block(1_090)]);
  expect(Math.max(...read)).toBe(1_100);
});

it('begins with no block below that one', async () => {
  missing = new Set(Array.from({ length: 64 }, (_, index) => 1_037 + index));
  expect(await look(search({ seenAt: 1_080 }))).toEqual([undefined]);
  expect(listings.stopOf(search().slot)).not.toBeNull();
});

it('begins although the head that endpoints agree on is below the block at which the nonce was seen: with one endpoint it always is', async () => {
  expect(await look(search({ head: 1_000, seenAt: 1_001 }))).toEqual([null]);
});

it('begins as soon as the endpoint is where the nonce was seen at first, however far both have gone on since', async () => {
  const above = (height: number) => new Set(Array.from({ length: 200 }, (_, index) => height + 1 + index));
  missing = above(1_000);
  expect(await look(search({ head: 1_000, seenAt: 1_001 }))).toEqual([undefined]);
  missing = above(1_049);
  expect(await look(search({ head: 1_049, seenAt: 1_100 }))).toEqual([null]);
});

it('finds none where no block around those that it may be in lists ours', async () => {
  expect(await look(search())).toEqual([null]);
  expect([Math.min(...read) <= 836, Math.max(...read)]).toEqual([true, 1_064]);
});

it('reads no blocks above the newest, and none below the first', async () => {
  expect(await look(search({ ...since(0), usedAt: block(9), head: 11 }))).toEqual([null]);
  expect([Math.min(...read), Math.max(...read)]).toEqual([0, 11]);
});

it('reads so many blocks in one look, and goes on below them in the next', async () => {
  listedIn = 60;
  const far = search(since(50));
  expect(await look(far)).toEqual([undefined]);
  expect(read).toHaveLength(500);
  expect(await look(far)).toEqual([undefined]);
  expect(await look(far)).toEqual([block(60)]);
  expect(new Set(read).size).toBe(read.length);
});

describe('begins anew', () => {
  const far = search(since(0));

  it.each<[string, Partial<Search>, number]>([
    ['where the nonce is known to be used at another block', { usedAt: block(1_001) }, 1_065],
    ['with another attempt', { hashes: [OURS, OTHER_OF_OURS] }, 1_064],
    ['with other attempts, as many', { hashes: [OURS, OTHER_OF_OURS].slice(1) }, 1_064],
  ])('%s', async (_words, changed, top) => {
    await look(far);
    const other = { ...far, ...changed };
    [read, listed, listedIn] = [[], other.hashes.at(-1) ?? OURS, 1_050];
    expect(await look(other)).toEqual([block(1_050)]);
    expect(Math.max(...read)).toBe(top);
  });

  it('not with the same attempts in another order', async () => {
    await look(far);
    read = [];
    await look({ ...far, hashes: far.hashes.toReversed() });
    expect(Math.max(...read)).toBe(564);
  });

  it('after it was forgotten, also while it was going on', async () => {
    await look(far);
    listings.forget(far.slot);
    read = [];
    beforeRead = async () => listings.forget(far.slot);
    await look(far);
    expect(Math.max(...read)).toBe(1_064);
    [beforeRead, read] = [() => Promise.resolve(), []];
    await look(far);
    expect(Math.max(...read)).toBe(1_064);
  });

  it('where another branch took the place of what was read, from which it is not linked', async () => {
    cut = new Set([1_020]);
    expect(await look(search())).toEqual([undefined]);
    [cut, forkedAt, listedIn] = [new Set(), 1_010, 1_040];
    expect(await look(search())).toEqual([undefined]);
    expect(await look(search())).toEqual([block(1_040)]);
  });

  it('where the other branch has no block at the height', async () => {
    cut = new Set([1_020]);
    await look(search());
    [cut, forkedAt, missing, listedIn] = [new Set(), 1_010, new Set([1_020]), 1_040];
    parentOf = (number) => hashOf(number === 1_021 ? 1_019 : number - 1);
    expect(await look(search())).toEqual([undefined]);
    expect(await look(search())).toEqual([block(1_040)]);
  });

  it('where the blocks lead past the one where the nonce is known to be used: they are of another branch', async () => {
    [forkedAt, missing] = [990, new Set([1_000])];
    parentOf = (number) => hashOf(number === 1_001 ? 999 : number - 1);
    const used = search({ usedAt: block(1_000, aHash(1_000)) });
    for (let looks = 0; looks < 3; looks += 1) expect(await look(used)).toEqual([undefined]);
    [forkedAt, missing, listedIn] = [Infinity, new Set(), 1_000];
    parentOf = (number) => hashOf(number - 1);
    expect(await look(used)).toEqual([block(1_000)]);
  });

  it('where another branch took the place of what was read, above what is left', async () => {
    beforeRead = async (numbers) => {
      if (Math.min(...numbers) < 900) forkedAt = 1_010;
    };
    expect(await look(search())).toEqual([undefined]);
    listedIn = 1_040;
    expect(await look(search())).toEqual([block(1_040)]);
  });
});

describe('goes on', () => {
  it('where the highest block is not told at the end', async () => {
    beforeRead = async (numbers) => {
      missing = new Set(numbers.length === 1 ? numbers : []);
    };
    expect(await look(search())).toEqual([undefined]);
    [beforeRead, missing, read] = [() => Promise.resolve(), new Set(), []];
    expect([await look(search()), read]).toEqual([[null], [1_064]]);
  });

  it('where an endpoint has other blocks below the one where the nonce is known to be used', async () => {
    const known = search();
    cut = new Set([950]);
    await look(known);
    [cut, forkedAt, read] = [new Set(), 940, []];
    for (let looks = 0; looks < 5; looks += 1) expect(await look(known)).toEqual([undefined]);
    forkedAt = Infinity;
    expect(await look(known)).toEqual([null]);
    expect(read.filter((number) => number > 950)).toEqual([1_064]);
  });

  it('to the first block, which is asked for alone', async () => {
    const asked: (readonly number[])[] = [];
    beforeRead = async (numbers) => void asked.push(numbers);
    expect(await look(search({ ...since(0), usedAt: block(9), head: 11 }))).toEqual([null]);
    expect(asked).toContainEqual([0]);
  });

  it('to the first block that has no parent', async () => {
    [missing, parentOf] = [new Set([0]), (number) => aHash(number - 1)];
    expect(await look(search({ ...since(0), usedAt: block(9), head: 11 }))).toEqual([null]);
  });
});

it('reads on below the block of the price while the blocks are not older than its tx: one endpoint told that price', async () => {
  timestampOf = (number) => number + 4_000;
  const told = search(since(999, (HOUR_SECONDS + 4_700) * 1_000));
  listedIn = 750;
  expect(await look(told)).toEqual([block(750)]);
  listedIn = null;
  expect(await look(told)).toEqual([null]);
});

describe('says nothing', () => {
  it('of the blocks of an endpoint that has another one where the nonce is known to be used', async () => {
    forkedAt = 1_000;
    expect(await look(search({ usedAt: block(1_000, aHash(1_000)) }))).toEqual([undefined]);
    forkedAt = Infinity;
    expect(await look(search())).toEqual([null]);
  });

  it('of the blocks of an endpoint that is not that far', async () => {
    missing = new Set(Array.from({ length: 101 }, (_, index) => 1_000 + index));
    listedIn = 1_000;
    for (let looks = 0; looks < 3; looks += 1) expect(await look(search())).toEqual([undefined]);
    missing = new Set();
    expect(await look(search())).toEqual([block(1_000)]);
  });

  it('while the list of a block is not whole, which is asked for again', async () => {
    cut = new Set([950]);
    for (let looks = 0; looks < 3; looks += 1) expect(await look(search())).toEqual([undefined]);
    [cut, read] = [new Set(), []];
    expect(await look(search())).toEqual([null]);
    expect(read).toContain(950);
  });

  it('but finds ours in a list that is not whole', async () => {
    [cut, listedIn] = [new Set([950]), 950];
    expect(await look(search())).toEqual([block(950)]);
  });
});

describe('a height without a block', () => {
  it('is passed where the blocks around it are parent and child', async () => {
    [missing, listedIn] = [new Set([950, 949]), 948];
    parentOf = (number) => aHash(number === 951 ? 948 : number - 1);
    expect(await look(search())).toEqual([block(948)]);
  });

  it('may be where the next read begins', async () => {
    [missing, listedIn] = [new Set([1_014, 1_015, 1_016]), 990];
    parentOf = (number) => aHash(number === 1_017 ? 1_013 : number - 1);
    expect(await look(search())).toEqual([block(990)]);
  });

  it.each([1_050, 950, 836])('stops the search where a block is missing, which is asked for again: %p', async (at) => {
    [missing, listedIn] = [new Set([at]), at];
    for (let looks = 0; looks < 3; looks += 1) expect(await look(search())).toEqual([undefined]);
    missing = new Set();
    expect(await look(search())).toEqual([block(at)]);
  });
});

describe.each([
  ['no block is known since when it may be out', null],
  ['the price is of a block that is not there yet', 1_001],
])('where %s', (_words, number) => {
  const time = (WEEK_SECONDS + 700) * 1_000;

  it('ends a week before the first of its txs was created', async () => {
    expect(await look(search(since(number, time)))).toEqual([null]);
    expect(Math.min(...read)).toBeLessThan(700);
    listedIn = 700;
    expect(await look(search({ ...since(number, time), ...slotOf(2) }))).toEqual([block(700)]);
  });

  it.each<[string, number, (number: number) => number | null]>([
    ['no block tells its time', time, () => null],
    ['it is not known when it was created', Number.NaN, (at) => at],
  ])('goes on to the first block where %s', async (_what, created, timeOf) => {
    timestampOf = timeOf;
    const far = search(since(number, created));
    const told = [];
    for (let looks = 0; looks < 3; looks += 1) told.push(...(await look(far)));
    expect([told, Math.min(...read)]).toEqual([[undefined, undefined, null], 0]);
  });
});

describe('blocks that cannot be read', () => {
  const error = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'blocks' }, 'no answer');

  it('stop no other search, and what was read is not read again', async () => {
    beforeRead = async (numbers) => {
      if (numbers.includes(960)) throw error;
    };
    const other = search({ ...slotOf(2), usedAt: block(500), ...since(400) });
    expect(await look(search(), other)).toEqual([undefined, null]);
    expect(log.lines).toMatchObject([{ fields: { nonces: [7n], error: error.message } }]);
    [beforeRead, read] = [() => Promise.resolve(), []];
    expect(await look(search())).toEqual([null]);
    expect(read.filter((number) => number > 1_014)).toEqual([1_064]);
  });

  it('are not what a mistake of ours is taken for', async () => {
    beforeRead = () => Promise.reject(new Error('ours'));
    await expect(look(search())).rejects.toThrow('ours');
  });

  it('in time hold up nobody else, and what comes later counts', async () => {
    let answer: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (answer = resolve));
    beforeRead = (numbers) => (numbers.includes(1_064) ? late : Promise.resolve());
    wait = () => new Promise((resolve) => setImmediate(resolve));
    const other = search({ ...slotOf(2), usedAt: block(500), ...since(400) });
    expect(await look(search())).toEqual([undefined]);
    wait = () => new Promise(() => undefined);
    expect(await look(search(), other)).toEqual([undefined, null]);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    read = [];
    expect([await look(search()), read]).toEqual([[null], []]);
  });
});

describe('many searches', () => {
  it('of one signer read each block once, and begin where the highest of their nonces was used', async () => {
    const many = Array.from({ length: 64 }, (_, nonce) =>
      search({ ...slotOf(1, BigInt(nonce)), hashes: [aHash(10_000 + nonce)], usedAt: block(1_000 - nonce) }),
    );
    [listedIn, listed] = [940, aHash(10_003)];
    const told = await look(...many);
    expect(told.map((each, nonce) => (nonce === 3 ? each?.number === 940 : each === null))).not.toContain(false);
    expect([read.length - new Set(read).size, Math.max(...read)]).toEqual([1, 1_064]);
  });

  it('end each where nothing of its own can be below', async () => {
    const long = search({ ...slotOf(1, 8n), ...since(0) });
    expect(await look(search(), long)).toEqual([null, undefined]);
    expect(await look(long)).toEqual([undefined]);
    expect(await look(long)).toEqual([null]);
  });

  it('that come later have another walk, and take turns with those before', async () => {
    const [early, later] = [search(since(0)), search(slotOf(1, 8n))];
    expect(await look(early)).toEqual([undefined]);
    expect(await look(early, later)).toEqual([undefined, undefined]);
    expect(await look(early, later)).toEqual([null, null]);
    expect(read.filter((number) => number === 1_064)).toHaveLength(4);
  });

  it('of one signer that are never there in the same look each come to their end', async () => {
    const [one, other] = [search(since(0)), search({ ...slotOf(1, 8n), ...since(0) })];
    for (let looks = 0; looks < 2; looks += 1)
      expect([await look(one), await look(other)]).toEqual([[undefined], [undefined]]);
    expect([await look(one), await look(other)]).toEqual([[null], [null]]);
  });

  it('are not held up by one that stands still', async () => {
    const [still, later] = [search({ ...since(0), usedAt: block(500) }), search(slotOf(1, 8n))];
    cut = new Set([400]);
    await look(still);
    expect(await look(still, later)).toEqual([undefined, null]);
    expect([listings.stopOf(still.slot), listings.stopOf(later.slot)]).toEqual([expect.any(String), null]);
  });

  it('begin anew, each at its own height, where another branch took the place of what one of them read', async () => {
    const [low, high] = [search({ ...slotOf(1, 8n), usedAt: block(500), ...since(0) }), search()];
    expect(await look(low, high)).toEqual([undefined, null]);
    missing = new Set([564]);
    parentOf = (number) => (number === 565 ? aHash(9) : hashOf(number - 1));
    expect(await look(low)).toEqual([undefined]);
    [missing, parentOf] = [new Set(), (number) => hashOf(Math.max(0, number - 1))];
    const told = [];
    for (let looks = 0; looks < 4; looks += 1) told.push(...(await look(low, high)));
    expect(told.slice(-2)).toEqual([null, null]);
  });

  it('of which one is not there in a look is told nothing of the blocks that were read meanwhile', async () => {
    const [one, other] = [search(since(0)), search({ ...slotOf(1, 8n), ...since(0), hashes: [OTHER_OF_OURS] })];
    [listed, listedIn] = [OTHER_OF_OURS, 400];
    expect(await look(one, other)).toEqual([undefined, undefined]);
    expect(await look(one)).toEqual([undefined]);
    expect(await look(one, other)).toEqual([null, undefined]);
    expect(await look(other)).toEqual([block(400)]);
  });

  it('of many signers take turns, and read so many blocks together', async () => {
    const many = [1, 2, 3, 4, 5, 6].map((signer) => search({ ...slotOf(signer), ...since(0) }));
    await look(...many);
    expect(read).toHaveLength(500);
    await look(...many);
    expect(read.filter((number) => number === 1_064)).toHaveLength(6);
  });

  it('end at the first rate limit, also those of other signers', async () => {
    const limited = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'blocks' }, 'wait', true);
    beforeRead = (numbers) =>
      numbers.includes(1_064) ? Promise.reject(limited) : new Promise((resolve) => setImmediate(resolve));
    const other = search({ ...slotOf(2), usedAt: block(500), ...since(400) });
    expect(await look(search(), other)).toEqual([undefined, undefined]);
    expect(read).toHaveLength(50);
    expect(await look(other)).toEqual([null]);
  });
});

describe('a search that stands still', () => {
  it('is told with the block and the reason, once in the log', async () => {
    const known = search();
    cut = new Set([950]);
    for (let looks = 0; looks < 3; looks += 1) await look(known);
    expect(listings.stopOf(known.slot)).toContain('at block 950: it does not list all of its transactions');
    expect(log.lines).toMatchObject([{ fields: { nonces: [7n], block: 950 } }]);
    missing = new Set([940]);
    cut = new Set();
    await look(known);
    expect(listings.stopOf(known.slot)).toContain('at block 939: it is not the parent of the block above');
    expect(log.lines).toHaveLength(2);
    expect(listings.stopOf({ ...known.slot, nonce: 8n })).toBeNull();
    missing = new Set();
    await look(known);
    expect(listings.stopOf(known.slot)).toBeNull();
  });

  it('is told where no endpoint tells the block', async () => {
    missing = new Set(Array.from({ length: 50 }, (_, index) => 965 + index));
    const known = search();
    await look(known);
    expect(listings.stopOf(known.slot)).toContain('at block 1014: the endpoint that was asked does not tell it');
  });
});

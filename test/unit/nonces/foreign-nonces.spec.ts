import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/index.js';
import type { Hash } from '../../../src/kernel/hex.js';
import {
  type Agreed,
  type BlockRef,
  type FinalityRule,
  type NonceUse,
  RpcUnavailable,
} from '../../../src/modules/chain/index.js';
import { AgreedHeads } from '../../../src/modules/chain/application/agreed-heads.js';
import { type SlotInDoubt, ForeignNonces } from '../../../src/modules/nonces/application/foreign-nonces.js';
import { byDepth } from '../../../src/modules/chain/domain/final-heights.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChains } from '../../support/model-chain.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { SearchListings } from '../../../src/modules/nonces/application/search-listings.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const REQUIRED = 2;
const STALE_MS = 60_000;
const SLOT: SlotInDoubt = { slot: { signer: aSigner(), nonce: 7n }, hashes: [aHash(1)], since: { block: 1, time: 0 } };
const FOREIGN = aHash(0xf0);

let clock: FakeClock;
let taken: ForeignNonces;
let fate: NonceUse;
/** Of the slots behind. */
let others: NonceUse[];
let cannotRead: boolean;
/** Heights of the blocks that were read. */
let read: number[];
let head: number;
/** The questions of each call. */
let asked: unknown[][];
/** The block that lists ours; null when none does. */
let listedIn: number | null;
/** Where it is not the block with the number of its height; null where the endpoints do not agree. */
let other: Map<number, Hash | null>;

beforeEach(() => {
  clock = new FakeClock();
  const heads = new AgreedHeads();
  const finality: Pick<FinalityRule, 'heights' | 'agreedHead'> = {
    heights: async (_chain, at) => byDepth(at, REQUIRED),
    agreedHead: (chain, at) => heads.newest(chain, at),
  };
  const config = Object.assign(new ConfirmationsConfig(), { staleReceiptTimeout: STALE_MS });
  const chain = fakeOf(EthersChainConnector, {
    chainId: DEV_CHAIN,
    blocks: async (numbers) => {
      if (cannotRead)
        throw new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'blocks' }, 'no answer');
      read.push(...numbers);
      return numbers.map((number) => ({
        ...{ ...block(number), parentHash: aHash(Math.max(0, number - 1)), timestamp: 0 },
        ...{ baseFeePerGas: null, receiptsRoot: null, listsAll: true },
        transactionHashes: number === listedIn ? SLOT.hashes : [],
      }));
    },
    nonceUses: async (questions) => (asked.push([...questions]), [fate, ...others]),
    head: async () => ({ ...block(head), parentHash: aHash(0), timestamp: 0, baseFeePerGas: null, receiptsRoot: null }),
    agreedBlocks: async (numbers) =>
      numbers.map((number): Agreed<Hash> | null => {
        const hash = other.has(number) ? other.get(number) : aHash(number);
        return hash ? { value: hash, isAlone: false } : null;
      }),
  });
  const chains = new ModelChains(chain);
  const listings = new SearchListings(new RecordingLog(), clock, { pause: () => new Promise(() => undefined) });
  taken = new ForeignNonces(chains, finality as FinalityRule, config, listings, clock);
  asked = [];
  other = new Map();
  [listedIn, others, cannotRead, read] = [null, [], false, []];
  fate = { kind: 'open' };
  head = 0;
});

function block(number: number, hash = aHash(number)): BlockRef {
  return { number, hash };
}

/** The nonce was used in that block, as this look at that head says. */
function usedIn(at: BlockRef, by: Hash | null = FOREIGN): void {
  fate = { kind: 'passed', head: at, user: by && { txHash: by, block: at, sent: null } };
}

/** @returns what used the slot, as far as this look is enough to say that it is taken; undefined when it is not */
async function look(at: number): Promise<Hash | null | undefined> {
  head = at;
  const [found] = await taken.usedForGood(DEV_CHAIN, [SLOT]);
  return found && (found.usedBy?.txHash ?? null);
}

describe('a nonce that something else used', () => {
  it('is taken at the second look, and not before its block is as deep as finality asks', async () => {
    usedIn(block(10));
    expect(await look(10 + REQUIRED - 1)).toBeUndefined();
    expect(await look(10 + REQUIRED - 1)).toBeUndefined();
    expect(await look(10 + REQUIRED)).toBe(FOREIGN);
  });

  it('is not taken by one look, also when its block is final at once', async () => {
    usedIn(block(10));
    expect(await look(50)).toBeUndefined();
    expect(await look(50)).toBe(FOREIGN);
  });

  it('needs two looks again after it was found taken: a reorg may free it', async () => {
    usedIn(block(10));
    await look(50);
    await look(50);
    expect(await look(50)).toBeUndefined();
  });

  it('is not taken when a look in between does not see it', async () => {
    usedIn(block(10));
    await look(50);
    fate = { kind: 'open' };
    expect(await look(50)).toBeUndefined();
    usedIn(block(10));
    expect(await look(50)).toBeUndefined();
  });

  it('counts from the block of the last look when the first one is gone', async () => {
    usedIn(block(10));
    await look(11);
    other.set(10, aHash(0xbad));
    usedIn(block(20));
    expect(await look(21)).toBeUndefined();
    expect(await look(21)).toBeUndefined();
    expect(await look(22)).toBe(FOREIGN);
  });

  it('counts from the block of the transaction that is named last', async () => {
    usedIn(block(10));
    await look(11);
    usedIn(block(20), aHash(0xf1));
    expect(await look(21)).toBeUndefined();
    expect(await look(22)).toBe(aHash(0xf1));
  });

  it('is not taken while the endpoints do not agree on its block', async () => {
    usedIn(block(10));
    await look(50);
    other.set(10, null);
    expect(await look(50)).toBeUndefined();
  });

  it('is not taken while the endpoints do not agree on a head', async () => {
    usedIn(block(10));
    await look(50);
    other.set(50, null).set(49, null);
    expect(await look(50)).toBeUndefined();
    other.delete(49);
    expect(await look(50)).toBe(FOREIGN);
  });
});

it('the chain is asked for the nonce of the signer and for every attempt at it, and for nothing where there is no doubt', async () => {
  await taken.usedForGood(DEV_CHAIN, []);
  expect(asked).toEqual([]);
  await look(50);
  expect(asked).toEqual([[{ account: SLOT.slot.signer.address, nonce: 7n, hashes: SLOT.hashes }]]);
});

describe('a nonce that something used which nobody can name', () => {
  beforeEach(() => clock.advance(STALE_MS));

  it('counts from the head of the first look, however the chain goes on', async () => {
    usedIn(block(10), null);
    await look(10);
    clock.advance(STALE_MS);
    usedIn(block(10 + REQUIRED), null);
    expect(await look(10 + REQUIRED)).toBeNull();
  });

  it('counts from the head of the last look when the first one is gone, and from the same time', async () => {
    usedIn(block(10), null);
    await look(10);
    clock.advance(STALE_MS);
    other.set(10, aHash(0xbad));
    for (const [at, expected] of [
      [12, undefined],
      [14, null],
    ] as const) {
      usedIn(block(at), null);
      expect(await look(at)).toBe(expected);
    }
  });

  it('is taken when the looks are as far apart as a receipt may be stale', async () => {
    usedIn(block(10), null);
    await look(50);
    clock.advance(STALE_MS - 1);
    expect(await look(50)).toBeUndefined();
    clock.advance(1);
    expect(await look(50)).toBeNull();
  });
});

describe('a nonce that a block has one of ours for', () => {
  it('is ours where no endpoint knows it by its hash, nor names who used the nonce', async () => {
    clock.advance(STALE_MS);
    listedIn = 7;
    usedIn(block(10), null);
    expect(taken.ownBlock(SLOT.slot)).toBeNull();
    await look(50);
    clock.advance(STALE_MS);
    expect(await look(50)).toBeUndefined();
    expect(taken.ownBlock(SLOT.slot)).toEqual(block(7));
    expect(await look(50)).toBeUndefined();
    [listedIn] = [null];
    other.set(7, aHash(0xbad));
    expect(await look(51)).toBeNull();
    expect(taken.ownBlock(SLOT.slot)).toBeNull();
  });

  describe('keeps the search that is going on', () => {
    const blocksFrom = async (use: NonceUse, at = 1_000): Promise<number> => {
      clock.advance(STALE_MS);
      usedIn(block(at), null);
      await look(at + 50);
      clock.advance(STALE_MS);
      await look(at + 50);
      fate = use;
      await look(at + 50);
      usedIn(block(at + 1), null);
      await look(at + 50);
      read = [];
      await look(at + 50);
      return Math.max(...read);
    };

    it('where an answer is missing in between', async () => {
      expect(await blocksFrom({ kind: 'open' })).toBe(550);
    });

    it('not where the nonce is free again in between', async () => {
      clock.advance(STALE_MS);
      expect(await blocksFrom({ kind: 'open', isFree: true })).toBe(-Infinity);
    });

    it('while the endpoints do not agree on the block in which the nonce was used', async () => {
      clock.advance(STALE_MS);
      usedIn(block(1_000), null);
      await look(1_050);
      clock.advance(STALE_MS);
      await look(1_050);
      other.set(1_000, null);
      await look(1_050);
      other.delete(1_000);
      read = [];
      await look(1_050);
      expect(Math.max(...read)).toBe(550);
    });
  });

  it('may be one of them while its blocks cannot be read, which stops no other', async () => {
    clock.advance(STALE_MS);
    usedIn(block(10), null);
    others = [{ kind: 'passed', head: block(10), user: { txHash: FOREIGN, block: block(10), sent: null } }];
    cannotRead = true;
    const behind = { ...SLOT, slot: { ...SLOT.slot, nonce: 8n } };
    const both = () => taken.usedForGood(DEV_CHAIN, [SLOT, behind]);
    head = 50;
    await both();
    clock.advance(STALE_MS);
    expect(await both()).toMatchObject([{ slot: behind.slot, usedBy: { txHash: FOREIGN } }]);
    cannotRead = false;
    expect(await both()).toMatchObject([{ slot: SLOT.slot, usedBy: null }]);
  });

  it('is not searched for where the chain names another transaction that used the nonce', async () => {
    listedIn = 7;
    usedIn(block(10));
    await look(50);
    expect(await look(50)).toBe(FOREIGN);
  });

  it('is not taken while that block is on the chain, whatever is said later', async () => {
    fate = { kind: 'ours', block: block(10) };
    await look(50);
    usedIn(block(20));
    await look(50);
    expect(await look(50)).toBeUndefined();
    other.set(10, null);
    expect(await look(50)).toBeUndefined();
    other.set(10, aHash(0xbad));
    expect(await look(50)).toBe(FOREIGN);
  });

  it('is still known as ours a hundred thousand blocks later, and no longer', async () => {
    const later = 10 + 100_000 + REQUIRED;
    fate = { kind: 'ours', block: block(10) };
    await look(50);
    usedIn(block(later - REQUIRED));
    for (let n = 0; n < 3; n += 1) expect(await look(later)).toBeUndefined();
    expect(await look(later + 1)).toBe(FOREIGN);
  });
});

describe('a sighting', () => {
  it('is forgotten a thousand blocks later', async () => {
    usedIn(block(10));
    await look(11);
    usedIn(block(10));
    expect(await look(10 + 1_000 + REQUIRED)).toBe(FOREIGN);
    await look(11);
    expect(await look(10 + 1_001 + REQUIRED)).toBeUndefined();
  });
});

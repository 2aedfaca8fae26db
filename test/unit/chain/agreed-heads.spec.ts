import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { Agreed } from '../../../src/modules/chain/index.js';
import { AgreedHeads } from '../../../src/modules/chain/application/agreed-heads.js';
import { aHash, DEV_CHAIN } from '../../support/builders.js';

/** Endpoints that tell one chain, up to a head. */
class Told {
  readonly chainId = DEV_CHAIN;
  head = 10;
  isAlone = true;
  /** Blocks from this number on are of another branch. */
  forkedFrom = Infinity;
  calls = 0;

  async agreedBlocks(numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]> {
    this.calls += 1;
    return numbers.map((number) =>
      number <= this.head ? { value: this.hashOf(number), isAlone: this.isAlone } : null,
    );
  }

  hashOf(number: number): Hash {
    return aHash(number >= this.forkedFrom ? 1_000 + number : number);
  }
}

let chain: Told;
let heads: AgreedHeads;

beforeEach(() => {
  chain = new Told();
  heads = new AgreedHeads();
});

const newest = async (head: number): Promise<number | null> => {
  chain.head = head;
  return (await heads.newest(chain, head))?.number ?? null;
};

describe('a head that several endpoints tell', () => {
  beforeEach(() => {
    chain.isAlone = false;
  });

  it('counts at once, and costs one call', async () => {
    expect(await heads.newest(chain, 10)).toEqual({ number: 10, hash: aHash(10) });
    expect(chain.calls).toBe(1);
  });

  it('is the one before when too few have the newest', async () => {
    expect((await heads.newest(chain, 11))?.number).toBe(10);
    expect(await heads.newest(chain, 12)).toBeNull();
  });

  it('below the first block is asked for once', async () => {
    chain.head = -1;
    expect(await heads.newest(chain, 0)).toBeNull();
    expect(chain.calls).toBe(1);
  });
});

describe('a head that one endpoint tells alone', () => {
  it('counts when a later block is told on top of it, and stays the newest until the next', async () => {
    expect(await newest(10)).toBeNull();
    expect(await newest(10)).toBeNull();
    expect(await newest(11)).toBe(10);
    expect(await newest(11)).toBe(10);
    expect(await newest(12)).toBe(11);
  });

  it('costs one call each time', async () => {
    for (const head of [10, 11, 12]) await newest(head);
    expect(chain.calls).toBe(3);
  });

  it('proves nothing when it is gone at the next look', async () => {
    expect(await newest(22)).toBeNull();
    expect(await newest(11)).toBeNull();
    expect(await newest(12)).toBe(11);
  });

  it('on a branch that is gone at the next look proves nothing', async () => {
    await newest(10);
    chain.forkedFrom = 9;
    expect(await newest(11)).toBeNull();
    expect(await newest(12)).toBe(11);
  });

  it('and was proven is forgotten when another branch takes its place', async () => {
    await newest(10);
    expect(await newest(11)).toBe(10);
    chain.forkedFrom = 10;
    expect(await newest(12)).toBeNull();
  });

  it('leaves what was proven below another branch', async () => {
    await newest(10);
    expect(await newest(11)).toBe(10);
    chain.forkedFrom = 11;
    expect(await newest(12)).toBe(10);
  });

  it('counts at once as soon as another endpoint tells it, too', async () => {
    await newest(10);
    chain.isAlone = false;
    expect(await newest(11)).toBe(11);
    chain.isAlone = true;
    expect(await newest(12)).toBeNull();
  });
});

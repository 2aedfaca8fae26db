import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { Agreed } from '../../../src/modules/chain/index.js';
import { AgreedHeads } from '../../../src/modules/chain/application/agreed-heads.js';
import { aHash, DEV_CHAIN } from '../../support/builders.js';

/** Endpoints that report one chain, up to a head. */
class FakeChain {
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

let chain: FakeChain;
let heads: AgreedHeads;

beforeEach(() => {
  chain = new FakeChain();
  heads = new AgreedHeads();
});

const newest = async (head: number): Promise<number | null> => {
  chain.head = head;
  return (await heads.newest(chain, head))?.number ?? null;
};

describe('AgreedHeads.newest, for a head that several endpoints report', () => {
  beforeEach(() => {
    chain.isAlone = false;
  });

  it('answers it at once, with one call', async () => {
    expect(await heads.newest(chain, 10)).toEqual({ number: 10, hash: aHash(10) });
    expect(chain.calls).toBe(1);
  });

  it('answers the block before when too few endpoints have the newest', async () => {
    expect((await heads.newest(chain, 11))?.number).toBe(10);
    expect(await heads.newest(chain, 12)).toBeNull();
  });

  it('asks once at the first block of a chain', async () => {
    chain.head = -1;
    expect(await heads.newest(chain, 0)).toBeNull();
    expect(chain.calls).toBe(1);
  });
});

describe('AgreedHeads.newest, for a head that only one endpoint reports', () => {
  it('answers it when the endpoint reports a later block on top of it, until the next one', async () => {
    expect(await newest(10)).toBeNull();
    expect(await newest(10)).toBeNull();
    expect(await newest(11)).toBe(10);
    expect(await newest(11)).toBe(10);
    expect(await newest(12)).toBe(11);
  });

  it('costs one call per observation', async () => {
    for (const head of [10, 11, 12]) await newest(head);
    expect(chain.calls).toBe(3);
  });

  it('does not answer it when it is gone at the next observation', async () => {
    expect(await newest(22)).toBeNull();
    expect(await newest(11)).toBeNull();
    expect(await newest(12)).toBe(11);
  });

  it('does not answer a head of a branch that is gone at the next observation', async () => {
    await newest(10);
    chain.forkedFrom = 9;
    expect(await newest(11)).toBeNull();
    expect(await newest(12)).toBe(11);
  });

  it('forgets a proven head when another branch replaces it', async () => {
    await newest(10);
    expect(await newest(11)).toBe(10);
    chain.forkedFrom = 10;
    expect(await newest(12)).toBeNull();
  });

  it('keeps a proven head below another branch', async () => {
    await newest(10);
    expect(await newest(11)).toBe(10);
    chain.forkedFrom = 11;
    expect(await newest(12)).toBe(10);
  });

  it('answers a head at once as soon as another endpoint reports it, too', async () => {
    await newest(10);
    chain.isAlone = false;
    expect(await newest(11)).toBe(11);
    chain.isAlone = true;
    expect(await newest(12)).toBeNull();
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { SigningKey, computeAddress, id, toQuantity } from 'ethers';
import { type Address, parseAddress } from '../../../src/kernel/hex.js';
import type { MinedQuestion } from '../../../src/modules/chain/domain/sent-transaction.js';
import { failed, type RpcReply, type RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { minedTransactions } from '../../../src/modules/chain/infrastructure/mined-transactions.js';
import { RpcPool } from '../../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, DEV_CHAIN } from '../../support/builders.js';
import { shownTransaction } from './shown-transaction.js';

const KEY = new SigningKey(id('the account'));
const ACCOUNT = parseAddress(computeAddress(KEY));
const OTHER_KEY = new SigningKey(id('another account'));
const OTHER = parseAddress(computeAddress(OTHER_KEY));
/** Seconds between two blocks; block 0 is of the time 0. */
const BLOCK_TIME = 10;
const HEAD = 100;
const SILENT = failed({ reason: 'timeout', mayHaveArrived: true, message: 'request timeout' });

/** Endpoints that all have the same blocks; what they say of the counts is each one's own. */
class FakePool {
  /** The nonce that the block at a height has of the account. */
  readonly nonceAt = new Map<number, number>();
  /** Per endpoint. */
  counts: readonly ((height: number) => number | null)[] = [(height) => this.countAt(height)];
  /** Accounts that never sent anything, as all endpoints say. */
  readonly idle = new Set<unknown>();
  /** Further transactions in the blocks at these heights. */
  readonly more = new Map<number, unknown>();
  /** What is said of the block at a height instead. */
  readonly instead = new Map<number, RpcReply>();
  readonly wholeBlocks: number[] = [];

  /** How many of the account are in blocks up to this one. */
  countAt(height: number): number {
    return [...this.nonceAt].filter(([at]) => at <= height).length;
  }

  asPool(): RpcPool {
    const read = async (requests: readonly RpcRequest[]): Promise<RpcReply[]> =>
      requests.map(({ params: [height, whole] }) => this.block(Number(height), whole === true));
    const sendToAll = async (requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> =>
      this.counts.map(async (countAt) =>
        requests.map(({ params: [account, height] }): RpcReply => {
          const count = this.idle.has(account) ? 0 : countAt(Number(height));
          return count === null ? SILENT : { kind: 'result', value: toQuantity(count) };
        }),
      );
    return fakeOf(RpcPool, { chainId: DEV_CHAIN, read, sendToAll });
  }

  private block(number: number, isWhole: boolean): RpcReply {
    if (!isWhole) return { kind: 'result', value: header(number) };
    this.wholeBlocks.push(number);
    const nonce = this.nonceAt.get(number);
    const transactions = [
      ...(nonce === undefined ? [] : [shownTransaction(nonce, KEY)]),
      this.more.get(number) ?? [],
    ].flat();
    return this.instead.get(number) ?? { kind: 'result', value: { ...header(number), transactions } };
  }
}

function header(number: number): Record<string, unknown> {
  const [hash, parentHash] = [aHash(number + 1), aHash(number)];
  return { number: toQuantity(number), hash, parentHash, timestamp: toQuantity(number * BLOCK_TIME) };
}

describe('what an account had mined', () => {
  let pool: FakePool;

  beforeEach(() => {
    pool = new FakePool();
  });

  const find = async (question: Partial<MinedQuestion> = {}, head = HEAD) => {
    const [answer] = await minedTransactions(pool.asPool(), head, [
      { account: ACCOUNT, from: 0n, since: 50 * BLOCK_TIME, ...question },
    ]);
    return answer && { nonces: answer.transactions.map(({ nonce }) => Number(nonce)), complete: answer.complete };
  };

  it.each<[string, string, unknown]>([
    ['XinFinOrg/XDPoSChain#162', 'a sender with another prefix', { from: `xdc${'b1'.repeat(20)}` }],
    [
      'hiero-ledger/hiero-json-rpc-relay#417',
      'one of ours without nonce and signature',
      { from: ACCOUNT, nonce: null, hash: aHash(7) },
    ],
    [
      'ethereumjs/ethereumjs-monorepo#1880',
      'one of ours without a hash',
      { ...shownTransaction(9, KEY), hash: undefined },
    ],
    ['a node that ignores what it is asked for', 'a hash', aHash(7)],
  ])('%s: is found beside %s in its block', async (_source, _told, other) => {
    pool.nonceAt.set(60, 3);
    pool.more.set(60, other);
    expect(await find()).toMatchObject({ nonces: [3] });
  });

  it('is nothing, and no block is read, when every endpoint says that the count stood still', async () => {
    pool.nonceAt.set(20, 0);
    pool.counts = [() => 1, () => 1];
    expect(await find()).toEqual({ nonces: [], complete: true });
    expect(pool.wholeBlocks).toEqual([]);
  });

  describe.each([
    ['first', 0],
    ['last', 1],
  ])('is looked for in the blocks when the endpoint that answers %s', (_place, place) => {
    const honestAnd = (other: (height: number) => number | null) => {
      const honest = (height: number): number | null => pool.countAt(height);
      pool.counts = [honest].toSpliced(place, 0, other);
    };

    it('lags, and calls the account idle', async () => {
      pool.nonceAt.set(90, 0);
      honestAnd(() => 0);
      expect(await find()).toEqual({ nonces: [0], complete: true });
    });

    it.each([
      ['the count of then', (height: number) => (height === HEAD ? 1 : null)],
      ['the count of now', (height: number) => (height === HEAD ? null : 0)],
    ])('cannot tell %s, and the other says that it moved', async (_count, tell) => {
      pool.nonceAt.set(90, 0);
      honestAnd(tell);
      expect(await find()).toEqual({ nonces: [0], complete: true });
    });

    it('cannot tell, and is no reason to look where the other says that it stood still', async () => {
      honestAnd((height) => (height === HEAD ? 0 : null));
      expect(await find()).toEqual({ nonces: [], complete: true });
      expect(pool.wholeBlocks).toEqual([]);
    });
  });

  it('is looked for in the blocks when nobody can tell a count', async () => {
    pool.nonceAt.set(90, 0);
    pool.counts = [() => null, () => null];
    expect(await find()).toEqual({ nonces: [0], complete: true });
  });

  it('is looked for from the head down, as far as its first nonce of interest', async () => {
    for (const [height, nonce] of [
      [60, 0],
      [70, 1],
      [80, 2],
      [100, 3],
    ] as const)
      pool.nonceAt.set(height, nonce);
    expect(await find({ from: 2n })).toEqual({ nonces: [3, 2], complete: true });
    expect(Math.min(...pool.wholeBlocks)).toBeGreaterThan(60);
  });

  it('is looked for as far as a block from before the time', async () => {
    pool.nonceAt.set(51, 1);
    pool.nonceAt.set(2, 0);
    expect(await find()).toEqual({ nonces: [1], complete: true });
    expect(pool.wholeBlocks).toContain(50);
    expect(pool.wholeBlocks).not.toContain(2);
  });

  it('is looked for in the newest block, too', async () => {
    pool.nonceAt.set(HEAD, 0);
    expect(await find()).toEqual({ nonces: [0], complete: true });
  });

  it('is looked for down to the second block of a chain that is just older than the time', async () => {
    pool.nonceAt.set(1, 0);
    expect(await find({ since: 5 }, 17)).toEqual({ nonces: [0], complete: true });
    expect(pool.wholeBlocks).not.toContain(0);
  });

  it('is looked for down to the first block of a chain that is younger than the time', async () => {
    pool.nonceAt.set(0, 0);
    expect(await find({ since: 0 })).toEqual({ nonces: [0], complete: true });
  });

  it('is not known when a block could not be read', async () => {
    pool.nonceAt.set(90, 1);
    pool.instead.set(80, SILENT);
    expect(await find()).toBeNull();
  });

  it.each<[string, RpcReply]>([
    ['is not there', { kind: 'result', value: null }],
    ['is refused', { kind: 'error', error: { code: -32000, message: 'pruned', data: undefined } }],
  ])('is not complete when a block %s', async (_words, reply) => {
    pool.nonceAt.set(90, 1);
    pool.instead.set(80, reply);
    expect(await find()).toEqual({ nonces: [1], complete: false });
  });

  it('is complete all the same when it was found above such a block', async () => {
    pool.nonceAt.set(90, 0);
    pool.instead.set(89, { kind: 'result', value: null });
    expect(await find()).toEqual({ nonces: [0], complete: true });
  });

  it('is not complete when the time is too many blocks ago to read them all', async () => {
    pool.nonceAt.set(9_999, 1);
    expect(await find({ since: 4_000 * BLOCK_TIME }, 10_000)).toEqual({ nonces: [1], complete: false });
    expect(pool.wholeBlocks.length).toBeLessThan(5_016);
  });

  describe('of several accounts', () => {
    const SINCE = 50 * BLOCK_TIME;
    const of = (...accounts: readonly Address[]) => accounts.map((account) => ({ account, from: 0n, since: SINCE }));
    const findAll = async (questions: readonly MinedQuestion[]) =>
      (await minedTransactions(pool.asPool(), HEAD, questions)).map(
        (answer) =>
          answer && {
            found: answer.transactions.map(({ account, nonce }) => [account, nonce]),
            complete: answer.complete,
          },
      );

    it('is told of each for itself, and looked for until all is found', async () => {
      pool.nonceAt.set(70, 0);
      pool.more.set(90, shownTransaction(0, OTHER_KEY));
      expect(await findAll(of(OTHER, ACCOUNT))).toEqual([
        { found: [[OTHER, 0n]], complete: true },
        { found: [[ACCOUNT, 0n]], complete: true },
      ]);
    });

    it('is complete for one that sent nothing, although a block is not there', async () => {
      pool.nonceAt.set(90, 1);
      pool.idle.add(OTHER);
      pool.instead.set(80, { kind: 'result', value: null });
      expect(await findAll(of(OTHER, ACCOUNT))).toEqual([
        { found: [], complete: true },
        { found: [[ACCOUNT, 1n]], complete: false },
      ]);
    });

    it('is looked for as far as the oldest time that is asked for', async () => {
      pool.nonceAt.set(51, 0);
      const newer = of(OTHER).map((question) => ({ ...question, since: 99 * BLOCK_TIME }));
      expect(await findAll([...of(ACCOUNT), ...newer])).toMatchObject([{ found: [[ACCOUNT, 0n]] }, { found: [] }]);
    });
  });

  it('is not asked for when nobody wants to know', async () => {
    expect(await minedTransactions(pool.asPool(), HEAD, [])).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { SigningKey, computeAddress, id, toQuantity } from 'ethers';
import { parseAddress } from '../../../src/kernel/hex.js';
import { accountCounts, pooledTransactions } from '../../../src/modules/chain/infrastructure/pooled-transactions.js';
import type { RpcReply, RpcRequest } from '../../../src/modules/chain/infrastructure/rpc/json-rpc.js';
import { RpcPool } from '../../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { anAddress, DEV_CHAIN } from '../../support/builders.js';
import { shownTransaction } from './shown-transaction.js';

const UNSUPPORTED: RpcReply = { kind: 'error', error: { code: -32601, message: 'method not found', data: undefined } };

/** Endpoints that tell how many transactions an account has in their pool, and show none of them. */
function hiding(...counts: readonly number[]): RpcPool {
  const answer = (pending: number, { method }: RpcRequest): RpcReply =>
    method === 'eth_getTransactionCount' ? { kind: 'result', value: `0x${pending.toString(16)}` } : UNSUPPORTED;
  const sendToAll = async (requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> =>
    counts.map(async (pending) => requests.map((request) => answer(pending, request)));
  return fakeOf(RpcPool, { chainId: DEV_CHAIN, sendToAll });
}

describe('what pools hide', () => {
  it.each([
    ['first', [5, 3]],
    ['last', [3, 5]],
  ])('is as much as the endpoint that hides most may have, also when that answers %s', async (_place, counts) => {
    const [pooled] = await pooledTransactions(hiding(...counts), [{ account: anAddress(1), from: 2n }]);
    expect(pooled).toEqual({ transactions: [], shown: false, hiddenBelow: 5n });
  });
});

/** Endpoints that answer each for itself; null is an answer that says nothing. */
function telling(...answers: readonly ((request: RpcRequest) => unknown)[]): RpcPool {
  const reply = (value: unknown): RpcReply => (value === null ? UNSUPPORTED : { kind: 'result', value });
  const sendToAll = async (requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> =>
    answers.map(async (answer) => requests.map((request) => reply(answer(request))));
  return fakeOf(RpcPool, { chainId: DEV_CHAIN, sendToAll });
}

describe('the counts of accounts', () => {
  const [FIRST, SECOND] = [anAddress(1), anAddress(2)];
  const counts =
    (of: Record<string, number>) =>
    ({ params: [account, tag] }: RpcRequest): unknown => {
      const count = of[`${account === FIRST ? 'first' : 'second'} ${String(tag)}`];
      return count === undefined ? null : toQuantity(count);
    };

  it('are the lowest that is mined and the highest that is pending, of all that is told', async () => {
    const pool = telling(
      counts({ 'first latest': 4, 'first pending': 6, 'second latest': 1, 'second pending': 1 }),
      counts({ 'first latest': 3, 'first pending': 9, 'second latest': 2, 'second pending': 1 }),
    );
    expect(await accountCounts(pool, [FIRST, SECOND])).toEqual([
      { latest: 3n, pending: 9n },
      { latest: 1n, pending: 2n },
    ]);
  });

  it('are not known of an account of which nobody tells both', async () => {
    const pool = telling(counts({ 'first latest': 4, 'second pending': 2 }), () => null);
    expect(await accountCounts(pool, [FIRST, SECOND])).toEqual([null, null]);
  });
});

describe('what pools show', () => {
  const KEY = new SigningKey(id('the account'));
  const ACCOUNT = parseAddress(computeAddress(KEY));
  const shown = [2, 3, 4].map((nonce) => shownTransaction(nonce, KEY));
  const [second, third, fourth] = shown;
  const pooled = async (answer: (request: RpcRequest) => unknown) => {
    const [found] = await pooledTransactions(telling(answer), [{ account: ACCOUNT, from: 3n }]);
    return found && { ...found, transactions: found.transactions.map(({ nonce }) => nonce) };
  };

  it('is everything from a nonce on, where one shows its pool', async () => {
    const content = { pending: { 2: second, 3: third }, queued: { 4: fourth } };
    expect(await pooled(({ method }) => (method === 'txpool_contentFrom' ? content : '0x5'))).toEqual({
      transactions: [3n, 4n],
      shown: true,
      hiddenBelow: 0n,
    });
  });

  it('is not all that is out, while another one is silent about its pool', async () => {
    const shows = ({ method }: RpcRequest) =>
      method === 'txpool_contentFrom' ? { pending: { 3: third }, queued: {} } : '0x5';
    const counts = ({ method }: RpcRequest) => (method === 'eth_getTransactionCount' ? '0x5' : null);
    const question = [{ account: ACCOUNT, from: 3n }];
    const shownBy = async (...answers: readonly ((request: RpcRequest) => unknown)[]) =>
      (await pooledTransactions(telling(...answers), question))[0]?.shown;
    expect([await shownBy(shows, () => null), await shownBy(() => null, shows)]).toEqual([false, false]);
    expect(await shownBy(shows, counts)).toBe(true);
  });

  it('is one nonce after the other, where one tells only those', async () => {
    const single = ({ params: [, nonce] }: RpcRequest) => shown.find((each) => each['nonce'] === nonce) ?? null;
    const answer = (request: RpcRequest): unknown => {
      if (request.method === 'eth_getTransactionCount') return '0x5';
      return request.method === 'eth_getTransactionBySenderAndNonce' ? single(request) : null;
    };
    expect(await pooled(answer)).toEqual({ transactions: [3n, 4n], shown: false, hiddenBelow: 5n });
  });

  it('is what would be in the next block, where one tells only that', async () => {
    const answer = ({ method, params }: RpcRequest): unknown => {
      if (method === 'eth_getTransactionCount') return '0x5';
      const isPending = method === 'eth_getBlockByNumber' && params[0] === 'pending' && params[1] === true;
      return isPending ? { transactions: [third, fourth] } : null;
    };
    expect(await pooled(answer)).toMatchObject({ transactions: [3n, 4n] });
  });

  it('is not known where nobody tells a count', async () => {
    expect(await pooled(() => null)).toBeNull();
  });
});

import { describe, expect, it } from '@jest/globals';
import { pooledTransactions } from '../../../src/modules/chain/infrastructure/pooled-transactions.js';
import type { RpcReply, RpcRequest } from '../../../src/modules/chain/infrastructure/json-rpc.js';
import type { RpcPool } from '../../../src/modules/chain/infrastructure/rpc-pool.js';
import { anAddress } from '../../support/builders.js';

const UNSUPPORTED: RpcReply = { kind: 'error', error: { code: -32601, message: 'method not found', data: undefined } };

/** Endpoints that tell how many transactions an account has in their pool, and show none of them. */
function hiding(...counts: readonly number[]): RpcPool {
  const answer = (pending: number, { method }: RpcRequest): RpcReply =>
    method === 'eth_getTransactionCount' ? { kind: 'result', value: `0x${pending.toString(16)}` } : UNSUPPORTED;
  const sendToAll = async (requests: readonly RpcRequest[]): Promise<Promise<RpcReply[]>[]> =>
    counts.map(async (pending) => requests.map((request) => answer(pending, request)));
  return { sendToAll } as unknown as RpcPool;
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

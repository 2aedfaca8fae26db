import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { type PoolRoom, ROOMY } from '../../simulator/network/pool-room.js';
import { SimPool } from '../../simulator/network/sim-pool.js';
import { Seen } from '../../simulator/seen.js';
import type { ModelTx } from '../../support/model-pool.js';

const GWEI = 1_000_000_000n;
const HEAD = { countOf: () => 0n, baseFee: GWEI };

function aTx(account: number, nonce: number, tip = 1): ModelTx {
  const from = parseAddress(`0x${account.toString(16).padStart(40, '0')}`);
  const hash = parseHash(`0x${`${account}${nonce}${tip}`.padStart(64, '0')}`);
  const maxPriorityFeePerGas = BigInt(tip) * GWEI;
  return {
    hash,
    from,
    nonce: BigInt(nonce),
    data: '0x',
    maxFeePerGas: 100n * maxPriorityFeePerGas,
    maxPriorityFeePerGas,
    raw: parseHex('0x'),
  };
}

describe('a simulated pool', () => {
  let pool: SimPool;
  const room = (changes: Partial<PoolRoom>): void => {
    pool.room = { ...ROOMY, ...changes };
  };
  const take = (...txs: ModelTx[]): string[] => txs.map((tx) => pool.take(tx, HEAD));
  const nonces = (account: number): number[] =>
    pool.all().flatMap(({ from, nonce }) => (from === aTx(account, 0).from ? [Number(nonce)] : []));

  beforeEach(() => {
    pool = new SimPool(new Seen());
  });

  it('refuses a tip below its minimum, and says the minimum', () => {
    room({ leastTip: 2n * GWEI });
    expect(take(aTx(1, 0, 1), aTx(1, 0, 2))).toEqual([
      'transaction gas price below minimum: gas tip cap 1000000000, minimum needed 2000000000',
      'taken',
    ]);
  });

  it('refuses another nonce of an account that has all it may have, and takes a replacement', () => {
    room({ perAccount: 2 });
    expect(take(aTx(1, 0), aTx(1, 1), aTx(1, 2), aTx(1, 1, 2), aTx(2, 0))).toEqual([
      'taken',
      'taken',
      'account limit exceeded: pooled 2 txs',
      'taken',
      'taken',
    ]);
  });

  it('takes the one that can be mined next from an account that has all it may have', () => {
    room({ perAccount: 2 });
    expect(take(aTx(1, 1), aTx(1, 2), aTx(1, 0))).toEqual(['taken', 'taken', 'taken']);
  });

  it('drops the cheapest for one that pays more when it is full, and refuses one that does not', () => {
    room({ globalSlots: 2, globalQueue: 0, accountSlots: 2 });
    expect(take(aTx(1, 0, 2), aTx(2, 0, 1), aTx(3, 0, 1), aTx(3, 0, 3))).toEqual([
      'taken',
      'taken',
      'transaction underpriced',
      'taken',
    ]);
    expect([nonces(1), nonces(2), nonces(3)]).toEqual([[0], [], [0]]);
  });

  it('lets no transaction with a gap before it take the place of one that can be mined', () => {
    room({ globalSlots: 1, globalQueue: 0 });
    expect(take(aTx(1, 0, 1), aTx(2, 5, 9))).toEqual(['taken', 'future transaction tries to replace pending']);
  });

  it('drops the highest nonces of an account that has too many with a gap before them', () => {
    room({ accountQueue: 2, globalSlots: 9 });
    take(aTx(1, 5), aTx(1, 3), aTx(1, 4), aTx(1, 0));
    expect(nonces(1).sort()).toEqual([0, 3, 4]);
  });

  it('drops the last of the accounts with most when all together have too many with a gap before them', () => {
    room({ globalQueue: 2, globalSlots: 9 });
    take(aTx(1, 3), aTx(1, 4), aTx(2, 7));
    expect([nonces(1), nonces(2)]).toEqual([[3], [7]]);
  });

  it('leaves each account its guaranteed places when there are too many', () => {
    room({ globalSlots: 3, globalQueue: 9, accountSlots: 2 });
    take(aTx(1, 0), aTx(1, 1), aTx(2, 0), aTx(2, 1), aTx(1, 2));
    expect([nonces(1), nonces(2)]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });
});

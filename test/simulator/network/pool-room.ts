import type { Random } from '../random.js';

/** What the pool of a node has room for, by the settings that geth has for it. */
export interface PoolRoom {
  /** Wei per gas (`--txpool.pricelimit`). */
  readonly leastTip: bigint;
  /** Executable transactions that each account may have, however full the pool is. */
  readonly accountSlots: number;
  /** Executable transactions of all accounts. */
  readonly globalSlots: number;
  /** Transactions of one account that wait for a nonce below them. */
  readonly accountQueue: number;
  /** The same, of all accounts. */
  readonly globalQueue: number;
  /** All transactions of one account: some clients refuse those above it (reth). */
  readonly perAccount: number;
}

const HALF_A_GWEI = 500_000_000n;

export const ROOMY: PoolRoom = {
  leastTip: 0n,
  accountSlots: Infinity,
  globalSlots: Infinity,
  accountQueue: Infinity,
  globalQueue: Infinity,
  perAccount: Infinity,
};

/** So little that a few signers fill it. */
export function drawRoom(random: Random): PoolRoom {
  return {
    leastTip: BigInt(random.between(0, 2)) * HALF_A_GWEI,
    accountSlots: random.pick([1, 2, 4]),
    globalSlots: random.pick([3, 6, 12]),
    accountQueue: random.pick([1, 2, 4]),
    globalQueue: random.pick([2, 4, 8]),
    perAccount: random.pick([Infinity, Infinity, 3, 5]),
  };
}

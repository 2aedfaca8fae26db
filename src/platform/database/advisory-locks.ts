/**
 * The second key of an advisory lock of a chain. Advisory locks with two keys have 32 bits for each. Two chains with the same key only wait for
 * each other.
 */
export function chainLockKey(chainId: number): number {
  return chainId % 2_147_483_647;
}

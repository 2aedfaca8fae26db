/** The newest final block in the database. */
export interface SeenBlock {
  readonly number: number;
  readonly hash: string;
}

/** @returns which half is missing, or null. Call it before a new chain is created, which would look like the stored one later. */
export function describeMissingHalf(kept: {
  readonly database: boolean;
  readonly chain: boolean;
  /** Whether the database has any block or transaction; if not, it is new. */
  readonly history: boolean;
}): string | null {
  if (kept.chain && !kept.database) return 'the chain exists, but its database is missing';
  if (!kept.chain && kept.history) return 'the database exists, but its chain is missing';
  return null;
}

/**
 * Compares the chain with the database. Compares a final block, because the newest blocks may differ after a kill -9 of the node, as after
 * any reorg, and the service handles that.
 * @returns the difference in words, or null
 * @param hashOnChain hash on the chain at the number of `lastFinal`; null when the chain ends below it
 */
export function describeOtherChain(lastFinal: SeenBlock, hashOnChain: string | null): string | null {
  if (hashOnChain === lastFinal.hash) return null;
  const block = `block ${String(lastFinal.number)} (${lastFinal.hash}), which has a final transaction`;
  return hashOnChain === null
    ? `the database knows ${block}, but the chain ends before it`
    : `the database knows ${block}, but on the chain that block is ${hashOnChain}`;
}

export function driftMessage(drift: string): string {
  return (
    `Database and dev chain do not match: ${drift}. They only work together. ` +
    '`npm run reset` deletes both, and the next `npm start` creates new ones.'
  );
}

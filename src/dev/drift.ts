/** The newest final block that the database has seen. */
export interface SeenBlock {
  readonly number: number;
  readonly hash: string;
}

/** Says which half is missing, or null. Asked before a new chain is made, which would look like the kept one later. */
export function describeMissingHalf(kept: {
  readonly database: boolean;
  readonly chain: boolean;
  /** Whether the database knows any block or transaction; without one, it was only just made. */
  readonly history: boolean;
}): string | null {
  if (kept.chain && !kept.database) return 'the chain is there, but its database is gone';
  if (!kept.chain && kept.history) return 'the database is there, but its chain is gone';
  return null;
}

/**
 * Says how the chain differs from what the database knows of it, or null. A final block is the right thing to compare:
 * the newest blocks can rightly differ after a kill -9 of the node, as after any reorg, and the service deals with that.
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
    `Database and dev chain have drifted apart: ${drift}. They only make sense together. ` +
    '`npm run reset` deletes both, and the next `npm start` begins anew.'
  );
}

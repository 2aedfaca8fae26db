/** The newest final block that the database has seen. */
export interface SeenBlock {
  readonly number: number;
  readonly hash: string;
}

/** What there is at a start, before the service runs. */
export interface KeptState {
  readonly databaseExists: boolean;
  readonly chainExists: boolean;
  /** Whether the database knows any block or transaction at all. */
  readonly databaseHasHistory: boolean;
  readonly lastFinal: SeenBlock | null;
  /** Hash on the chain at the number of `lastFinal`; null when the chain ends below it. */
  readonly hashOnChain: string | null;
}

/**
 * Says what does not fit between database and chain, or null. A final block is the right thing to compare: the newest
 * blocks can rightly differ after a kill -9 of the node, as after any reorg, and the service deals with that.
 */
export function describeDrift(state: KeptState): string | null {
  if (state.chainExists && !state.databaseExists) return 'the chain is there, but its database is gone';
  if (!state.chainExists && state.databaseHasHistory) return 'the database is there, but its chain is gone';
  const { lastFinal, hashOnChain } = state;
  if (!lastFinal || hashOnChain === lastFinal.hash) return null;
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

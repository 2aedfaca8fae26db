import type { ChainBehind, ChainBehindSince } from '../../ledger/index.js';

/** Columns of the nonce cursor of a signer. */
export interface BehindRow {
  readonly behind: ChainBehind | null;
  readonly behind_since: Date | null;
}

export function behindSince({ behind, behind_since: since }: BehindRow): ChainBehindSince | null {
  return behind && since && { ...behind, since: since.toISOString() };
}

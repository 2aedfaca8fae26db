import { toJsonInteger } from '../../../kernel/quantities.js';
import type { NonceGapSince } from '../domain/tx-facts.js';

export interface GapRow {
  readonly external: boolean;
  readonly gap: string | null;
  readonly gap_since: Date | null;
}

/** SQL: the columns of a {@link GapRow}. @param cursor alias of signer_nonce_cursor */
export const gapColumns = (chain: string, address: string, cursor: string): string =>
  `EXISTS (SELECT FROM signer x WHERE x.chain_id = ${chain} AND x.address = ${address} AND x.custody ->> 'type' = 'external') AS external, ${cursor}.gap, ${cursor}.gap_since`;

/** What was noted before the key came here is out of date, also before its owner has noted that: a fill closes the gap. */
export function gapSince({ external, gap, gap_since: since }: GapRow): NonceGapSince | null {
  return external && gap !== null && since ? { nonce: toJsonInteger(BigInt(gap)), since: since.toISOString() } : null;
}

import { parseAddress } from '../../../kernel/hex.js';
import type { Pause } from '../domain/signer-pauses.js';

/**
 * In the key of a pause 0 stands for every chain and '' for every address and account. The table is nearly always empty: this is a probe of
 * its key.
 */
const HOLDS = (chain: string, address: string, account?: string): string =>
  `FROM signer_pause z WHERE z.chain_id IN (0, ${chain}) AND z.signer IN ('', ${address}) AND z.account IN (''${account === undefined ? '' : `, ${account}::text`})`;

/**
 * SQL: whether a pause holds for a signer.
 * @param chain column of a chain id
 * @param address column of an address
 * @param account column of the account of a tx; with it, whether one holds for this tx
 */
export const isPaused = (chain: string, address: string, account?: string): string =>
  `EXISTS (SELECT ${HOLDS(chain, address, account)})`;

/** SQL: whether an account is stopped. @param account column of an account */
export const isStopped = (account: string): string =>
  `EXISTS (SELECT FROM signer_pause z WHERE z.chain_id = 0 AND z.signer = '' AND z.account = ${account}::text)`;

/** SQL: the oldest pause that holds for a signer, or else for the account of a tx, as a {@link PauseJson}, or NULL. */
export const pauseOf = (chain: string, address: string, account?: string): string =>
  `(SELECT to_jsonb(z) ${HOLDS(chain, address, account)} ORDER BY z.account, z.since LIMIT 1)`;

/** A row of signer_pause as JSON. */
export interface PauseJson {
  readonly chain_id: number | string;
  readonly signer: string;
  readonly account: string;
  readonly account_name: string;
  readonly since: string | Date;
  readonly by: string;
  readonly by_account: string;
  readonly reason: string | null;
}

export function toPause(row: PauseJson): Pause {
  return {
    chainId: Number(row.chain_id) === 0 ? null : Number(row.chain_id),
    address: row.signer === '' ? null : parseAddress(row.signer),
    account: row.account === '' ? null : { id: row.account, name: row.account_name },
    since: new Date(row.since),
    by: { name: row.by, account: row.by_account },
    reason: row.reason,
  };
}

import { parseAddress } from '../../../kernel/hex.js';
import type { Pause } from '../domain/signer-pauses.js';

/** In the key of a pause 0 stands for every chain and '' for every address. The table is nearly always empty: this is a probe of its key. */
const HOLDS = (chain: string, address: string): string =>
  `FROM signer_pause z WHERE z.chain_id IN (0, ${chain}) AND z.signer IN ('', ${address})`;

/** SQL: whether a pause holds for a signer. @param chain column of a chain id @param address column of an address */
export const isPaused = (chain: string, address: string): string => `EXISTS (SELECT ${HOLDS(chain, address)})`;

/** SQL: the oldest pause that holds for a signer as a {@link PauseJson}, or NULL. */
export const pauseOf = (chain: string, address: string): string =>
  `(SELECT to_jsonb(z) ${HOLDS(chain, address)} ORDER BY z.since LIMIT 1)`;

/** A row of signer_pause as JSON. */
export interface PauseJson {
  readonly chain_id: number | string;
  readonly signer: string;
  readonly since: string | Date;
  readonly by: string;
  readonly by_account: string;
  readonly reason: string | null;
}

export function toPause({ chain_id: chainId, signer, since, by: name, by_account: account, reason }: PauseJson): Pause {
  return {
    chainId: Number(chainId) === 0 ? null : Number(chainId),
    address: signer === '' ? null : parseAddress(signer),
    since: new Date(since),
    by: { name, account },
    reason,
  };
}

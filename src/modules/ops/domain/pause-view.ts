import type { Pause } from '../../signers/index.js';

/** A pause as clients see it. Null stands for every chain, and for every signer. */
export interface PauseView {
  readonly chainId: number | null;
  readonly signer: string | null;
  readonly since: string;
  readonly by: string;
  readonly reason: string | null;
}

export function pauseView({ chainId, address, since, by, reason }: Pause): PauseView {
  return { chainId, signer: address, since: since.toISOString(), by, reason };
}

/** The request that ends it. */
export function howToResume({ chainId, signer }: PauseView): string {
  if (chainId !== null && signer !== null) return `POST /api/v1/signers/${chainId}/${signer}/resume.`;
  return `POST /api/v1/go with ${JSON.stringify({ ...(chainId && { chainId }), ...(signer && { signer }) })}.`;
}

/** Whose pause it is, in words. */
export function pausedInWords({ chainId, signer, since, by, reason }: PauseView): string {
  const chains = chainId === null ? 'on all chains' : `on chain ${chainId}`;
  const who =
    signer === null ? `all signers ${chainId === null ? '' : `${chains} `}are` : `signer ${signer} ${chains} is`;
  return `${who} paused since ${since} by ${by}${reason === null ? '' : ` (${reason})`}`;
}

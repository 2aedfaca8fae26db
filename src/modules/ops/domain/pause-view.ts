import { type Caller, DEFAULT_ACCOUNT, NO_LIMITS } from '../../../kernel/caller.js';
import type { Pause } from '../../signers/index.js';

/** A pause as clients see it. Null stands for every chain, and for every signer. */
export interface PauseView {
  readonly chainId: number | null;
  readonly signer: string | null;
  /** The name of the account that is stopped; null where it is not about one. */
  readonly account: string | null;
  readonly since: string;
  readonly by: string | null;
  readonly reason: string | null;
}

/** Who looks at pauses. Who asked for one is for its account, and for the operators that may end it. */
export type PauseViewer = Pick<Caller, 'account' | 'scopes' | 'only'>;

/** Whoever brings no key. */
export const NOBODY: PauseViewer = { account: '', scopes: [], only: NO_LIMITS };

export function pauseView({ chainId, address, account, since, by, reason }: Pause, viewer: PauseViewer): PauseView {
  return {
    chainId,
    signer: address,
    account: account?.name ?? null,
    since: since.toISOString(),
    by: isKnownTo(by.account, viewer) ? by.name : null,
    reason,
  };
}

/** The id of the only account whose stops a viewer may see; null for all. */
export function stopsSeenBy(viewer: PauseViewer): string | null {
  return seesAll(viewer) ? null : viewer.account;
}

/** Whether what belongs to an account is told to a viewer by its name or id. */
export function isKnownTo(account: string, viewer: PauseViewer): boolean {
  return viewer.account === account || seesAll(viewer);
}

/** An operator. */
export function seesAll({ account, scopes }: PauseViewer): boolean {
  return account === DEFAULT_ACCOUNT && scopes.includes('signers:admin');
}

/** The request that ends it. */
export function howToResume({ chainId, signer, account }: PauseView): string {
  if (chainId !== null && signer !== null) return `POST /api/v1/signers/${chainId}/${signer}/resume.`;
  return `POST /api/v1/go with ${JSON.stringify({ ...(chainId && { chainId }), ...(signer && { signer }), ...(account && { account }) })}.`;
}

/** Whose pause it is, in words. */
export function pausedInWords({ chainId, signer, account, since, by, reason }: PauseView): string {
  const chains = chainId === null ? 'on all chains' : `on chain ${chainId}`;
  const who =
    signer === null ? `all signers ${chainId === null ? '' : `${chains} `}are` : `signer ${signer} ${chains} is`;
  return `${account === null ? `${who} paused` : `account ${account} is stopped`} since ${since}${by === null ? '' : ` by ${by}`}${reason === null ? '' : ` (${reason})`}`;
}

import type { Address } from './hex.js';
import type { ChainId, SignerId } from './signer-id.js';

/** What a caller may do. Each route of the API demands one of these. */
export const SCOPES = [
  'tx:read',
  'tx:write',
  'events:read',
  'nonces',
  'typed-data',
  'signers:admin',
  'policies:admin',
  'pools:admin',
  'webhooks:admin',
  'keys:admin',
  'audit:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The account of the operators, which exists from the start. Keys that name no account belong to it. */
export const DEFAULT_ACCOUNT = '00000000-0000-0000-0000-000000000000';

/** Signers and chains that a caller is limited to; null stands for all. */
export interface CallerLimits {
  readonly signers: readonly Address[] | null;
  readonly chainIds: readonly ChainId[] | null;
}

export const NO_LIMITS: CallerLimits = { signers: null, chainIds: null };

/** Who sent a request, and what it may do. */
export interface Caller {
  /** Public, for logs and for other nodes: `key:<id>`, `token:<subject>`, or `anyone`. */
  readonly name: string;
  /** The id of the account that what it makes belongs to. */
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly only: CallerLimits;
}

/** As far as decides what exists for a caller: what belongs to its account, and is about a signer that it may use. */
export type Viewer = Pick<Caller, 'account' | 'only'>;

/** Where nobody is asked who calls (`auth.mode: none`). */
export const ANYONE: Caller = { name: 'anyone', account: DEFAULT_ACCOUNT, scopes: SCOPES, only: NO_LIMITS };

/** Whether the caller may use the signer, and see what is about it. */
export function mayUse({ only: { signers, chainIds } }: Pick<Caller, 'only'>, { chainId, address }: SignerId): boolean {
  return (signers?.includes(address) ?? true) && (chainIds?.includes(chainId) ?? true);
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

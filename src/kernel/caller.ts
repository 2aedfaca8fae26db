import { Forbidden } from './errors.js';
import { type ChainId, distinctSigners, sameSigner, type SignerId } from './signer-id.js';

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

/** Signers and chains that a caller is limited to; null stands for all. {@link limitedTo} makes them. */
export interface CallerLimits {
  readonly signers: readonly SignerId[] | null;
  /** Where there are signers, their chains: so limits compare part by part. */
  readonly chainIds: readonly ChainId[] | null;
}

export const NO_LIMITS: CallerLimits = { signers: null, chainIds: null };

/** Where both are given, both hold. */
export function limitedTo(signers: readonly SignerId[] | null, chainIds: readonly ChainId[] | null): CallerLimits {
  if (signers === null) return { signers, chainIds: chainIds && [...new Set(chainIds)] };
  const within = distinctSigners(signers).filter(({ chainId }) => chainIds?.includes(chainId) ?? true);
  return { signers: within, chainIds: [...new Set(within.map(({ chainId }) => chainId))] };
}

/** Who sent a request, and what it may do. */
export interface Caller {
  /** Public, for logs and for other nodes: `key:<id>`, `token:<subject>`, or `anyone`. */
  readonly name: string;
  /** The id of the account that what it makes belongs to. */
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly only: CallerLimits;
  /** When its key or token ends; null for never. */
  readonly endsAt: Date | null;
}

/** As far as decides what exists for a caller: what belongs to its account, and is about a signer that it may use. */
export type Viewer = Pick<Caller, 'account' | 'only'>;

/** Where nobody is asked who calls (`auth.mode: none`). */
export const ANYONE: Caller = {
  name: 'anyone',
  account: DEFAULT_ACCOUNT,
  scopes: SCOPES,
  only: NO_LIMITS,
  endsAt: null,
};

/** Whether the caller may use the signer, and see what is about it. */
export function mayUse({ only: { signers, chainIds } }: Pick<Caller, 'only'>, signer: SignerId): boolean {
  return signers?.some((one) => sameSigner(one, signer)) ?? chainIds?.includes(signer.chainId) ?? true;
}

export function isUnlimited({ only: { signers, chainIds } }: Pick<Caller, 'only'>): boolean {
  return signers === null && chainIds === null;
}

/** Whether the caller may use a signer of the chain. */
export function mayUseChain({ only: { chainIds } }: Pick<Caller, 'only'>, chainId: ChainId): boolean {
  return chainIds?.includes(chainId) ?? true;
}

/** Whether everything within `inner` is within `outer`, too. */
export function isWithin(inner: CallerLimits, outer: CallerLimits): boolean {
  const { signers, chainIds } = outer;
  const hasSigners = signers === null || (inner.signers?.every((signer) => mayUse({ only: outer }, signer)) ?? false);
  return hasSigners && (chainIds === null || (inner.chainIds?.every((chainId) => chainIds.includes(chainId)) ?? false));
}

/** For what a caller names. What it does not name, or names by an id, is not there for it. */
export function outsideLimits(what: string): Forbidden {
  return new Forbidden(
    'outside_limits',
    `the key or token is limited to signers or chains, and ${what} outside of these`,
    'stay within signers and chainIds of the key, or use a key without these limits',
  );
}

export function missingScope(missing: readonly Scope[], reason: string): Forbidden {
  return new Forbidden(
    'missing_scope',
    `${reason}: ${missing.join(', ')}`,
    'use a key or a token with the scope; whoever has keys:admin, or the command line, makes one',
    { missing },
  );
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

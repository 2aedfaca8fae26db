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

/** Who sent a request, and what it may do. */
export interface Caller {
  /** Public, for logs and for other nodes: `key:<id>`, `token:<subject>`, or `anyone`. */
  readonly name: string;
  /** The id of the account that what it makes belongs to. */
  readonly account: string;
  readonly scopes: readonly Scope[];
}

/** Where nobody is asked who calls (`auth.mode: none`). */
export const ANYONE: Caller = { name: 'anyone', account: DEFAULT_ACCOUNT, scopes: SCOPES };

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

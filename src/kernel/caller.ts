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

/** Who sent a request, and what it may do. */
export interface Caller {
  /** Public, for logs and for other nodes: `key:<id>`, `token:<subject>`, or `anyone`. */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** Where nobody is asked who calls (`auth.mode: none`). */
export const ANYONE: Caller = { name: 'anyone', scopes: SCOPES };

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

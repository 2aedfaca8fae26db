import { type Caller, DEFAULT_ACCOUNT, type Scope } from '../../../kernel/caller.js';
import { Forbidden } from '../../../kernel/errors.js';

export const MAX_NAME_CHARS = 100;

/** What a key is good for. Never changes: another one is another key. */
export interface KeyGrant {
  readonly name: string;
  /** The id of the account that it belongs to. */
  readonly account: string;
  readonly scopes: readonly Scope[];
}

export interface ApiKey extends KeyGrant {
  readonly id: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** About: it is written once a minute. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

/** Whose keys a caller may see and end: those of its account, and the operators those of all, which is null. */
export function accountOf({ account }: Caller): string | null {
  return account === DEFAULT_ACCOUNT ? null : account;
}

/** Nobody gives what they do not have. @throws Forbidden `missing_scope` */
export function assertMayGive(caller: Caller, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length > 0) throw missingScope(missing, 'a key cannot have scopes that its maker does not have');
}

export function missingScope(missing: readonly Scope[], reason: string): Forbidden {
  return new Forbidden(
    'missing_scope',
    `${reason}: ${missing.join(', ')}`,
    'use a key or a token with the scope; whoever has keys:admin, or the command line, makes one',
    { missing },
  );
}

import {
  type Caller,
  type CallerLimits,
  DEFAULT_ACCOUNT,
  isWithin,
  missingScope,
  NO_LIMITS,
  outsideLimits,
  type Scope,
} from '../../../kernel/caller.js';
import { Forbidden } from '../../../kernel/errors.js';

export const MAX_NAME_CHARS = 100;

/** What a key is good for. Never changes: another one is another key. */
export interface KeyGrant {
  readonly name: string;
  /** The id of the account that it belongs to. */
  readonly account: string;
  readonly scopes: readonly Scope[];
  /** It may use, and see, no others. */
  readonly only: CallerLimits;
  readonly expiresAt: Date | null;
}

export interface ApiKey extends KeyGrant {
  readonly id: string;
  /** After a rotation the end of its overlap, which may be to come. */
  readonly revokedAt: Date | null;
  /** About: it is written once a minute. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

/** Who sees and ends keys: those of an account, or of all, which is null, and among them those that are limited to no more than it is. */
export interface KeyManager {
  readonly account: string | null;
  readonly only: CallerLimits;
}

/** The command line. */
export const ALL_KEYS: KeyManager = { account: null, only: NO_LIMITS };

/** Whose keys, account and audit entries a caller may see: those of its account, and the operators those of all, which is null. */
export function accountOf({ account }: Caller): string | null {
  return account === DEFAULT_ACCOUNT ? null : account;
}

export function managerOf(caller: Caller): KeyManager {
  return { account: accountOf(caller), only: caller.only };
}

/** Nobody gives what they do not have. @throws Forbidden `missing_scope`, `outside_limits`, `outlives_maker` */
export function assertMayGive(caller: Caller, { scopes, only, expiresAt }: Omit<KeyGrant, 'name' | 'account'>): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length > 0) throw missingScope(missing, 'a key cannot have scopes that its maker does not have');
  if (!isWithin(only, caller.only)) throw outsideLimits('the new key would be');
  const { endsAt } = caller;
  if (endsAt !== null && (expiresAt === null || expiresAt > endsAt)) throw outlivesMaker(endsAt);
}

function outlivesMaker(endsAt: Date): Forbidden {
  const until = endsAt.toISOString();
  return new Forbidden(
    'outlives_maker',
    `a key cannot be usable longer than its maker, which ends at ${until}`,
    'set expiresAt to that time at most, or use a key that lasts longer',
    { endsAt: until },
  );
}

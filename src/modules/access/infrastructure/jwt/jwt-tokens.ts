import { Injectable } from '@nestjs/common';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { AuthConfig } from '../../../../config/lockstep-config.js';
import { type CallerLimits, DEFAULT_ACCOUNT, limitedTo } from '../../../../kernel/caller.js';
import { Clock } from '../../../../kernel/clock.js';
import { Forbidden, Unauthenticated, Unavailable } from '../../../../kernel/errors.js';
import { AccountBook } from '../../application/account-book.js';
import type { Session } from '../../application/session.js';
import { Tokens } from '../../application/tokens.js';
import { ALL, chainsOf, scopesOf, signersOf, subjectOf } from '../../domain/token-claims.js';
import { IssuerKeys, KeysNotRead, type KeyOf } from './issuer-keys.js';

/** With a pair of keys only: who knows the public one must not be able to sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Between the clocks of the issuer and of this node. */
const TOLERANCE_S = 10;
/** The end of the year 9999: what is later has no text in ISO 8601 that everybody reads. */
const LAST_MS = Date.UTC(10_000, 0) - 1;
const MOST_REMEMBERED = 1_000;

/**
 * Tokens (JWT) that the issuer signed. A signature is looked at once: each costs 150 µs, and a client sends the same token with thousands of requests.
 */
@Injectable()
export class JwtTokens extends Tokens {
  private sessions = new Map<string, Session>();
  /** Those that `sessions` were verified with. */
  private verifiedWith: KeyOf | null = null;

  constructor(
    private readonly config: AuthConfig,
    private readonly keys: IssuerKeys,
    private readonly accounts: AccountBook,
    private readonly clock: Clock,
  ) {
    super();
  }

  async sessionOf(token: string): Promise<Session> {
    const keys = this.keys.current();
    const known = this.remembered(keys).get(token);
    if (known?.isLive() === true) return known;
    const session = this.sessionFrom(await this.verified(token));
    if (keys === this.keys.current()) this.remembered(keys).set(token, session);
    return session;
  }

  private remembered(keys: KeyOf | null): Map<string, Session> {
    if (keys !== this.verifiedWith || this.sessions.size >= MOST_REMEMBERED) this.sessions = new Map();
    this.verifiedWith = keys;
    return this.sessions;
  }

  private async verified(token: string): Promise<JWTPayload> {
    const { issuer, audience } = this.config.jwt;
    try {
      const { payload } = await jwtVerify(token, (...of) => this.keys.keyOf(...of), {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: TOLERANCE_S,
        currentDate: this.clock.now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof KeysNotRead) throw notRead();
      throw refused(reasonOf(error));
    }
  }

  private sessionFrom({ sub, exp = 0, ...claims }: JWTPayload): Session {
    const subject = subjectOf(sub);
    if (subject === null) throw refused('its claim sub is missing or wrong');
    const endsAtMs = (exp + TOLERANCE_S) * 1_000;
    // It can be no date, which tables and answers have.
    if (endsAtMs > LAST_MS) throw refused('its claim exp is missing or wrong');
    const { id, isLive } = this.accountOf(claims);
    return {
      caller: {
        name: `token:${subject}`,
        account: id,
        scopes: scopesOf(claims[this.config.jwt.scopesClaim]),
        only: this.limitsOf(claims),
        endsAt: new Date(endsAtMs),
      },
      isLive: () => this.clock.now().getTime() < endsAtMs && isLive(),
    };
  }

  /** Never guessed: who has tokens of some signers only must not give one of all by leaving a claim out. */
  private limitsOf(claims: JWTPayload): CallerLimits {
    const { signersClaim, chainsClaim } = this.config.jwt;
    return limitedTo(limitOf(claims, signersClaim, signersOf), limitOf(claims, chainsClaim, chainsOf));
  }

  private accountOf(claims: JWTPayload): { readonly id: string; readonly isLive: () => boolean } {
    const { accountClaim } = this.config.jwt;
    if (accountClaim === undefined) return { id: DEFAULT_ACCOUNT, isLive: () => true };
    const name = claims[accountClaim];
    if (typeof name !== 'string') throw refused(`its claim ${accountClaim} is missing or wrong`);
    const id = this.accounts.idOf(name);
    if (id === null) throw unknownAccount();
    return { id, isLive: () => this.accounts.idOf(name) === id };
  }
}

/** Null for no limit: where the config names no claim, and where the claim says so. */
function limitOf<T>(claims: JWTPayload, claim: string | undefined, read: (value: unknown) => T | null): T | null {
  if (claim === undefined || claims[claim] === ALL) return null;
  const limit = read(claims[claim]);
  if (limit === null) throw refused(`its claim ${claim} is missing or wrong`);
  return limit;
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim ${error.claim} is missing or wrong`;
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'it does not name its key (kid), and the issuer has several';
  return 'it is no JWT that the issuer has signed';
}

function refused(reason: string): Unauthenticated {
  return new Unauthenticated('unauthenticated', `the token is not taken: ${reason}`, 'get another token of the issuer');
}

function notRead(): Unavailable {
  return new Unavailable(
    'auth_unavailable',
    'the keys of the issuer of tokens cannot be read',
    'try again in a moment',
  );
}

function unknownAccount(): Forbidden {
  return new Forbidden(
    'unknown_account',
    'the account that the token names does not exist, or is disabled',
    'have it made or enabled, or get a token of another account',
  );
}

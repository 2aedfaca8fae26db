import type { Session } from './session.js';

/** The tokens of the issuer in the config. */
export abstract class Tokens {
  /** @throws Unauthenticated `unauthenticated`; Unavailable `auth_unavailable` while nobody can tell */
  abstract sessionOf(token: string): Promise<Session>;
}

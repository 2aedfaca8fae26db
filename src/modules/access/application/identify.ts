import { Injectable } from '@nestjs/common';
import { AuthConfig } from '../../../config/lockstep-config.js';
import { ANYONE } from '../../../kernel/caller.js';
import { Unauthenticated } from '../../../kernel/errors.js';
import { KeyRing } from './key-ring.js';
import type { Session } from './session.js';
import { Tokens } from './tokens.js';

const NOBODY_ASKS: Session = { caller: ANYONE, isLive: () => true };

/** Finds out who sent a request. */
@Injectable()
export class Identify {
  constructor(
    private readonly config: AuthConfig,
    private readonly keys: KeyRing,
    private readonly tokens: Tokens,
  ) {}

  /**
   * @param credential what the request brought; null for nothing
   * @throws Unauthenticated `unauthenticated`; Unavailable `starting`, `auth_unavailable`
   */
  async execute(credential: string | null): Promise<Session> {
    const { mode } = this.config;
    if (mode === 'none') return NOBODY_ASKS;
    if (credential === null) throw new Unauthenticated('unauthenticated', 'the request has no key or token', ADVICE);
    if (mode === 'jwt') return this.tokens.sessionOf(credential);
    const session = this.keys.sessionOf(credential);
    if (session !== null) return session;
    throw new Unauthenticated('unauthenticated', 'the key is unknown, revoked or expired', ADVICE);
  }
}

const ADVICE =
  'send the header Authorization: Bearer, followed by a key, which `lockstep keys create` makes, or by a token with auth.mode: jwt';

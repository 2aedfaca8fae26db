import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { Clock } from '../../../kernel/clock.js';
import { Unavailable } from '../../../kernel/errors.js';
import { ApiKeys, type LiveKey } from '../domain/api-keys.js';
import { hashOf, isSameHash, parseKeyText } from './key-text.js';
import { NewestAnswer } from './newest-answer.js';
import type { Session } from './session.js';

interface HeldKey extends Pick<LiveKey, 'hash'> {
  readonly caller: Caller;
  /** By the monotonic clock of this node. */
  readonly endsAtMs: number;
}

/** No secret has it. An unknown id is compared with it, so that it takes as long as a known one. */
const NO_HASH = '0'.repeat(64);

/**
 * All keys that may be used now, in memory: a request costs one hash and no statement, and so does a wrong key. A key that is revoked or has
 * expired is forgotten, and so is one whose account is disabled.
 */
@Injectable()
export class KeyRing {
  private readonly held = new NewestAnswer<ReadonlyMap<string, HeldKey>>();
  private uses = new Map<string, number>();

  constructor(
    private readonly keys: ApiKeys,
    private readonly clock: Clock,
  ) {}

  async refresh(): Promise<void> {
    // Before the statement, so that a slow answer lets no key live longer.
    const now = this.clock.monotonicMs();
    await this.held.ask(async () => new Map((await this.keys.live()).map((live) => [live.key.id, heldKey(live, now)])));
  }

  /** @returns null for a key that is unknown, wrong, revoked or expired. @throws Unavailable `starting` before the keys were read */
  sessionOf(text: string): Session | null {
    if (this.held.value === null) {
      throw new Unavailable('starting', 'this node has not read the keys yet', 'try again in a moment');
    }
    const given = parseKeyText(text);
    if (given === null) return null;
    const nowMs = this.clock.monotonicMs();
    const key = this.find(given.id, nowMs);
    const isRight = isSameHash(hashOf(given.secret), key?.hash ?? NO_HASH);
    if (key === undefined || !isRight) return null;
    this.uses.set(given.id, nowMs);
    return { caller: key.caller, isLive: () => this.find(given.id, this.clock.monotonicMs()) !== undefined };
  }

  /** Writes when keys were used since the last call. */
  async recordUses(): Promise<void> {
    if (this.uses.size === 0) return;
    const { uses } = this;
    this.uses = new Map();
    const now = this.clock.monotonicMs();
    await this.keys.recordUses([...uses].map(([id, at]) => ({ id, agoMs: now - at })));
  }

  private find(id: string, nowMs: number): HeldKey | undefined {
    const key = this.held.value?.get(id);
    return key === undefined || key.endsAtMs <= nowMs ? undefined : key;
  }
}

function heldKey({ key, hash, endsInMs }: LiveKey, nowMs: number): HeldKey {
  const { id, account, scopes, only, expiresAt, revokedAt } = key;
  // A key that was rotated ends when it is revoked, which is before its own end.
  const isShortened = revokedAt !== null && (expiresAt === null || revokedAt < expiresAt);
  const endsAt = isShortened ? revokedAt : expiresAt;
  return { hash, endsAtMs: nowMs + endsInMs, caller: { name: `key:${id}`, account, scopes, only, endsAt } };
}

import { Injectable } from '@nestjs/common';
import { type Caller, NO_LIMITS } from '../../../kernel/caller.js';
import { Clock } from '../../../kernel/clock.js';
import { Unavailable } from '../../../kernel/errors.js';
import { ApiKeys, type LiveKey } from '../domain/api-keys.js';
import { hashOf, isSameHash, parseKeyText } from './key-text.js';
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
  private held: ReadonlyMap<string, HeldKey> | null = null;
  private uses = new Map<string, number>();
  private asked = 0;
  /** The question that `held` answers. */
  private answered = 0;

  constructor(
    private readonly keys: ApiKeys,
    private readonly clock: Clock,
  ) {}

  async refresh(): Promise<void> {
    // Before the statement, so that a slow answer lets no key live longer.
    const now = this.clock.monotonicMs();
    const question = ++this.asked;
    const live = await this.keys.live();
    // A later question may have been answered first: this answer does not know of what was revoked or made between them.
    if (question < this.answered) return;
    this.answered = question;
    this.held = new Map(
      live.map(({ key, hash, endsInMs }) => {
        const { id, account, scopes } = key;
        return [
          id,
          { hash, endsAtMs: now + endsInMs, caller: { name: `key:${id}`, account, scopes, only: NO_LIMITS } },
        ];
      }),
    );
  }

  /** @returns null for a key that is unknown, wrong, revoked or expired. @throws Unavailable `starting` before the keys were read */
  sessionOf(text: string): Session | null {
    if (this.held === null) {
      throw new Unavailable('starting', 'this node has not read the keys yet', 'try again in a moment');
    }
    const given = parseKeyText(text);
    if (given === null) return null;
    const key = this.find(given.id);
    const isRight = isSameHash(hashOf(given.secret), key?.hash ?? NO_HASH);
    if (key === undefined || !isRight) return null;
    this.uses.set(given.id, this.clock.monotonicMs());
    return { caller: key.caller, isLive: () => this.find(given.id) !== undefined };
  }

  /** Writes when keys were used since the last call. */
  async recordUses(): Promise<void> {
    if (this.uses.size === 0) return;
    const { uses } = this;
    this.uses = new Map();
    const now = this.clock.monotonicMs();
    await this.keys.recordUses([...uses].map(([id, at]) => ({ id, agoMs: now - at })));
  }

  private find(id: string): HeldKey | undefined {
    const key = this.held?.get(id);
    return key === undefined || key.endsAtMs <= this.clock.monotonicMs() ? undefined : key;
  }
}

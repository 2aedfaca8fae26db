import type { Actor } from '../../../kernel/audit-log.js';
import type { ApiKey, KeyGrant, KeyManager } from './api-key.js';

export interface NewKey extends KeyGrant {
  readonly id: string;
  /** SHA-256 of the secret, 64 hex digits. */
  readonly hash: string;
}

/** A key that is neither revoked nor expired, and whose account is not disabled. */
export interface LiveKey {
  readonly key: ApiKey;
  readonly hash: string;
  /** Milliseconds, by the clock of the database; infinite for a key that does not expire. */
  readonly endsInMs: number;
}

/** When a key was used last. */
export interface KeyUse {
  readonly id: string;
  readonly agoMs: number;
}

/** What a manager may not manage does not exist. What changes a key is recorded in the audit log. */
export abstract class ApiKeys {
  abstract add(key: NewKey, by: Actor): Promise<ApiKey>;
  abstract find(id: string, manager: KeyManager): Promise<ApiKey | null>;
  /** Newest first. */
  abstract list(beforeId: string | null, limit: number, manager: KeyManager): Promise<ApiKey[]>;
  /** All that may be used now. */
  abstract live(): Promise<LiveKey[]>;
  /**
   * Adds a key that may do the same, and lets the old one end after `overlapMs`.
   * @param expiresAt of the new key; undefined for the end that the old one has had
   * @returns the new key; null when the old one is not live
   */
  abstract rotate(id: string, fresh: FreshKey, overlapMs: number, by: Actor): Promise<ApiKey | null>;
  /** Also ends one that is revoked or expired already. @returns null when there is no such key */
  abstract revoke(id: string, manager: KeyManager, by: Actor): Promise<ApiKey | null>;
  abstract recordUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface FreshKey {
  readonly id: string;
  readonly hash: string;
  readonly expiresAt: Date | undefined;
}

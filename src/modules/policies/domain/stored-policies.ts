import type { Actor } from '../../../kernel/audit-log.js';
import type { Sized } from '../../../kernel/page-bytes.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { Policy } from './policy.js';

/** One version of what was set by the API for a signer. */
export interface StoredPolicy {
  readonly signer: SignerId;
  /** From 1; each change is the next one. */
  readonly version: number;
  /** Null: it was withdrawn. */
  readonly policy: Policy | null;
  readonly changedBy: string;
  readonly changedAt: Date;
}

export interface PolicyChange {
  readonly signer: SignerId;
  /** Null withdraws it. */
  readonly policy: Policy | null;
  /** That the caller has seen; 0 where there was none. */
  readonly version: number;
  readonly by: Actor;
}

export type PolicyChanged =
  | { readonly kind: 'changed'; readonly stored: StoredPolicy }
  | { readonly kind: 'other_version'; readonly version: number }
  | { readonly kind: 'unknown_signer' };

/** The newest version of each signer that has changed. */
export interface PolicyNews {
  /** Names the last change among them. */
  readonly mark: string;
  /** Of all signers that ever had one: the change that was known is not there, because none was known, or the database lost it. */
  readonly isAll: boolean;
  readonly newest: readonly StoredPolicy[];
}

/** The policies of the API, with all their versions. */
export abstract class StoredPolicies {
  /** @param mark of the change that is known. @returns null when it is the last one */
  abstract news(mark: string, tx: Tx | null): Promise<PolicyNews | null>;
  /** Writes the next version, with its entry in the audit log. */
  abstract change(change: PolicyChange): Promise<PolicyChanged>;
  /** The newest version of a signer, 0 without one; null when there is no such signer. */
  abstract versionOf(signer: SignerId): Promise<number | null>;
  /** Newest first, before the version `before`: one more than a page has, if there is one. */
  abstract versions(signer: SignerId, before: number | null, limit: number): Promise<Sized<StoredPolicy>[]>;
}

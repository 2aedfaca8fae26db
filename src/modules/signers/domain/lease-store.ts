import type { SignerId } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

export interface LeaseTerms {
  readonly durationMs: number;
  /** Milliseconds after the expiry during which a *different* owner may not take over. */
  readonly clockSkewAllowanceMs: number;
}

/**
 * The lease table. The clock of the database alone decides about expiry (docs/invariants.md, I12). Each method runs one statement, except
 * `acquire` when it renews own leases.
 */
export abstract class LeaseStore {
  /**
   * Takes every lease that is free: never held, or expired. The token of a lease that was held before grows by one, also when this node was
   * the last owner. Renews own unexpired leases and keeps their tokens.
   * @returns the leases of this node; those that other nodes hold are left out
   */
  abstract acquire(node: string, signers: readonly SignerId[], terms: LeaseTerms): Promise<Lease[]>;
  /**
   * Extends the leases that this node still owns and that have not expired. Never waits for writers.
   * @returns the leases that were extended
   */
  abstract renew(node: string, leases: readonly Lease[], terms: LeaseTerms): Promise<Lease[]>;
  /**
   * Expires the leases that this node still owns, so that another node can take over at once.
   * @param idle whether their signers have no work; polling then skips them until a node takes their leases again
   */
  abstract release(node: string, leases: readonly Lease[], idle?: boolean): Promise<void>;
  /**
   * The leases under which no write is open: a commit whose answer was lost may not be decided yet. Waits for nobody, so it may leave out more than these.
   */
  abstract withoutOpenWrites(leases: readonly Lease[]): Promise<Lease[]>;
}

import type { SignerId } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

export interface LeaseTerms {
  readonly durationMs: number;
  /** Added to the expiry before a *different* owner may take over. */
  readonly clockSkewAllowanceMs: number;
}

/** The lease table. Expiry is decided by the database clock alone (I12). One statement a method. */
export abstract class LeaseStore {
  /**
   * Takes every lease that is free: never held, or expired. The token of a lease that was held before grows by one, also
   * when the last owner was this node. Own and unexpired ones are renewed with their token. Leases held by others are left
   * out of the answer.
   */
  abstract acquire(node: string, signers: readonly SignerId[], terms: LeaseTerms): Promise<Lease[]>;
  /** Extends the leases that are still ours and unexpired; answers those. Never waits for writers. */
  abstract renew(node: string, leases: readonly Lease[], terms: LeaseTerms): Promise<Lease[]>;
  /**
   * Expires the leases that are still ours, so that another node takes over at once.
   * @param idle whether their signers have nothing to do; polling leaves them alone until somebody takes their leases again
   */
  abstract release(node: string, leases: readonly Lease[], idle?: boolean): Promise<void>;
}

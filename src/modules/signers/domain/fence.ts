import { InvariantViolation } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { Lease } from './lease.js';

/**
 * The capability to make critical writes for some signers: an open transaction that locked the lease row of each of them FOR KEY SHARE and
 * found that this node owns it and that it has not expired. Only a {@link FencedUnitOfWork} makes one, and it is useless after that
 * transaction. Every repository method that changes what only the owner may change takes a Fence (docs/invariants.md, I2).
 */
export abstract class Fence {
  abstract readonly tx: Tx;
  abstract readonly nodeId: string;
  protected abstract readonly leases: ReadonlyMap<string, Lease>;

  /** @throws InvariantViolation when this fence does not cover the signer: a fault in Lockstep, found before the write */
  tokenFor(signer: SignerId): bigint {
    const lease = this.leases.get(signerKey(signer));
    if (!lease || !this.tx.open)
      throw new InvariantViolation('a critical write was made outside its fence', { signer: signerKey(signer) });
    return lease.token;
  }
}

export abstract class FencedUnitOfWork {
  /**
   * Runs `work` in one transaction that holds the lease rows of all `leases`.
   * @param operation names the write in logs and in `lease_fenced_total{op}`
   * @throws LeaseLost with the leases that this node lost; then nothing is written for any signer
   */
  abstract run<T>(leases: readonly Lease[], operation: string, work: (fence: Fence) => Promise<T>): Promise<T>;
}

import { InvariantViolation } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import type { Lease } from './lease.js';

/**
 * The capability to make critical writes for some signers: an open transaction that has the lease row of each of them
 * locked FOR KEY SHARE and found it ours and unexpired. Only a {@link FencedUnitOfWork} makes one, and it is of no use
 * after that transaction. A repository method that changes what the owner alone may change takes a Fence.
 */
export abstract class Fence {
  abstract readonly tx: Tx;
  abstract readonly nodeId: string;
  protected abstract readonly leases: ReadonlyMap<string, Lease>;

  /** @throws InvariantViolation when this fence does not cover the signer: a bug, found before it writes */
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
   * @throws LeaseLost naming the leases that are gone; then nothing is written, for none of them
   */
  abstract run<T>(leases: readonly Lease[], operation: string, work: (fence: Fence) => Promise<T>): Promise<T>;
}

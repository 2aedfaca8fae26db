import { Unavailable } from '../../../kernel/errors.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

/** The database refused a critical write because another node has the lease now, or because it expired. Nothing was written. */
export class LeaseLost extends Unavailable {
  constructor(
    readonly leases: readonly Lease[],
    readonly operation: string,
  ) {
    super('lease_lost', `another node took over (${operation})`, 'try again; the new owner will act', {
      signers: leases.map((lease) => signerKey(lease.signer)),
    });
  }
}

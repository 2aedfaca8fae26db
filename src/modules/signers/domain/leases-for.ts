import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

/** The leases that writes for these signers need, so that a fence locks no other rows. */
export function leasesFor(leases: readonly Lease[], signers: readonly SignerId[]): Lease[] {
  const needed = new Set(signers.map(signerKey));
  return leases.filter((lease) => needed.has(signerKey(lease.signer)));
}

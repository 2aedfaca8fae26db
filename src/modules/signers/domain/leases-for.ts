import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Lease } from './lease.js';

/** Of these leases, the ones that writes for these signers need: a fence locks no row in vain. */
export function leasesFor(leases: readonly Lease[], signers: readonly SignerId[]): Lease[] {
  const needed = new Set(signers.map(signerKey));
  return leases.filter((lease) => needed.has(signerKey(lease.signer)));
}

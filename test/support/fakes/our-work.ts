import { sameSigner, type SignerId, signersOf } from '../../../src/kernel/signer-id.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { BegunWork, LeasedWork } from '../../../src/modules/ledger/index.js';
import { aLease } from '../builders.js';
import { fakeOf } from './fake-of.js';

/** Each task runs once, with all its items. */
async function run<Item extends { readonly signer: SignerId }>(
  _chainId: number,
  items: readonly Item[],
  task: (leases: readonly Lease[], share: readonly Item[]) => Promise<void>,
): Promise<Item[]> {
  const leases = signersOf(items).map((signer) => aLease(signer));
  if (items.length > 0) await task(leases, items);
  return [];
}

/** Work of a node that has all leases, and whose lanes have begun. */
export const ourWork = fakeOf(LeasedWork, { run, asOwner: (signer, task) => task(aLease(signer)) });
export const begunWork = fakeOf(BegunWork, { run });

/** Work that does nothing, and leaves what is of this signer for later. */
export function workThatLeaves(signer: SignerId): LeasedWork {
  return fakeOf(LeasedWork, {
    run: async (_chainId, items) => items.filter((item) => sameSigner(item.signer, signer)),
  });
}

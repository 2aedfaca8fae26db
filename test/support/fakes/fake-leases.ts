import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { type Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import { fakeOf } from './fake-of.js';

/**
 * The leases that a node has. None expires, and none is acquired.
 * @param current called for each question
 * @param hasOpenWrite whether a commit without an answer may still happen
 */
export function leasesOf(
  current: () => readonly Lease[],
  hasOpenWrite: (signer: SignerId) => boolean = () => false,
): LeaseManager {
  const held = (signer: SignerId) => current().find((lease) => sameSigner(lease.signer, signer)) ?? null;
  const heldOn = (chainId: number) => current().filter(({ signer }) => signer.chainId === chainId);
  return fakeOf(LeaseManager, {
    held,
    heldOn,
    withoutOpenWrites: async (leases) => leases.filter(({ signer }) => !hasOpenWrite(signer)),
    hasAnyOn: (chainId) => heldOn(chainId).length > 0,
    isOurs: (signer) => held(signer) !== null,
  });
}

import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Funds } from '../../../src/modules/sending/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';

export function someFunds(overrides: Partial<Funds> = {}): Funds {
  return {
    signer: aSigner(),
    balance: 100n,
    inFlight: 30n,
    queued: { count: 1, wei: 20n, isCut: false },
    available: 70n,
    missing: 0n,
    isLow: false,
    ...overrides,
  };
}

/** Work for signers that this node holds, all in one part. */
export const heldWork = {
  run: async <T extends { signer: SignerId }>(
    _chainId: number,
    items: readonly T[],
    task: (leases: readonly Lease[], share: readonly T[]) => Promise<void>,
  ): Promise<T[]> => {
    const leases = [
      ...new Map(items.map(({ signer }) => [signerKey(signer), { signer, owner: 'n', token: 1n }])).values(),
    ];
    if (items.length > 0) await task(leases, items);
    return [];
  },
} as unknown as LeasedWork;

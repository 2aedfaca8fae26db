import type { PermitUse } from '../../../src/modules/ledger/domain/permit-store.js';
import { aHash, anAddress, aSigner } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';

export const OWNER = aSigner(1);
export const SENDER = aSigner(2);
export const TOKEN = anAddress(0x70);
export const LEASE = { signer: OWNER, owner: 'node', token: 1n };

/** One with a text that can be signed. */
export const SIGNABLE = aPermit({
  owner: OWNER.address,
  contract: TOKEN,
  text: {
    domain: { name: 'Token', verifyingContract: TOKEN },
    types: { Permit: ['value', 'nonce', 'deadline'].map((name) => ({ name, type: 'uint256' })) },
    primaryType: 'Permit',
    message: { value: '5' },
  },
});

/** A wanted one. */
export function aPermitUse(overrides: Partial<PermitUse> = {}): PermitUse {
  return {
    id: '80000000-0000-4000-8000-000000000001',
    txId: 'tx',
    requestHash: aHash(1),
    signer: OWNER,
    sender: SENDER,
    stage: 'wanted',
    permit: SIGNABLE,
    contract: TOKEN,
    permitNonce: null,
    deadline: null,
    now: 1_000n,
    tries: 0,
    ...overrides,
  };
}

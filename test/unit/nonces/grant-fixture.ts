import { anAddress, aSigner } from '../../support/builders.js';
import { type Grant } from '../../../src/modules/ledger/domain/authorization-store.js';

export const AUTHORITY = aSigner(1);
export const SENDER = aSigner(2);
export const LEASE = { signer: AUTHORITY, owner: 'node', token: 1n };

/** A wanted one that may be signed. */
export function aGrant(overrides: Partial<Grant> = {}): Grant {
  return {
    id: '80000000-0000-4000-8000-000000000001',
    txId: 'tx',
    signer: AUTHORITY,
    sender: SENDER,
    stage: 'wanted',
    target: { chainId: 0n, address: anAddress(0xc0de) },
    nonce: null,
    isReady: true,
    tries: 0,
    ...overrides,
  };
}

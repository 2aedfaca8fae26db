import type { MadePermit, RequestedPermit } from '../../src/modules/ledger/domain/permit.js';
import { aHash, anAddress } from './builders.js';

/** Of a token (EIP-2612), with nothing of it in the call. */
export function aPermit(overrides: Partial<RequestedPermit> = {}): RequestedPermit {
  return {
    kind: 'eip2612',
    contract: anAddress(0x70),
    owner: anAddress(2),
    ttl: 3_600,
    text: { domain: {}, types: {}, primaryType: 'Permit', message: {} },
    places: [],
    ...overrides,
  };
}

export function aMadePermit(overrides: Partial<MadePermit> = {}): MadePermit {
  const signature = { r: aHash(1), s: aHash(2), yParity: 0 } as const;
  return { permitNonce: 0n, deadline: 1_800_000_000n, signature, ...overrides };
}

import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import type { SlotRef } from '../domain/nonce-ledger.js';

/** The keys of signers as arrays for `unnest`: chain ids, addresses. */
export function signerColumns(signers: readonly SignerId[]): [number[], string[]] {
  return [signers.map(({ chainId }) => chainId), signers.map(({ address }) => address)];
}

/** The keys of slots as arrays for `unnest`: chain ids, addresses, nonces. */
export function slotColumns(slots: readonly SlotRef[]): [number[], string[], Nonce[]] {
  return [...signerColumns(slots.map(({ signer }) => signer)), slots.map(({ nonce }) => nonce)];
}

import type { Address } from './hex.js';

/** EIP-155 chain id. */
export type ChainId = number;
/** Position in an account's sequence. EIP-2681 limits it to 2^64-2, so it may pass 2^53. */
export type Nonce = bigint;

/** One account on one chain; it has its own nonce sequence. */
export interface SignerId {
  readonly chainId: ChainId;
  readonly address: Address;
}

/** A signer as a map key. */
export function signerKey(signer: SignerId): string {
  return `${signer.chainId}:${signer.address}`;
}

export function sameSigner(a: SignerId, b: SignerId): boolean {
  return a.chainId === b.chainId && a.address === b.address;
}

/** Each once. */
export function signersOf(items: readonly { readonly signer: SignerId }[]): SignerId[] {
  return [...new Map(items.map(({ signer }) => [signerKey(signer), signer])).values()];
}

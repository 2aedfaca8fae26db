import type { Hash, Hex } from './hex.js';

/** ECDSA over secp256k1 with a low s (EIP-2). */
export interface EcdsaSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

/** The type of a transaction (EIP-2718), an authorization (EIP-7702), or typed data (EIP-712). */
export type SignableKind = 0 | 1 | 2 | 3 | 4 | 'authorization' | 'typedData';

export interface Signable {
  readonly kind: SignableKind;
  /** The unsigned transaction, authorization or hashes of typed data, for a custody that reads what it signs. */
  readonly bytes: Uint8Array;
  /** Keccak-256 of the bytes. */
  readonly digest: Hash;
}

/** Typed data in a policy: the verifying contract of its domain, or the name of a domain without one, and the primary type. */
export const TYPED_DATA = /^(?:0x[0-9a-fA-F]{40}|(?!0x).{1,100})\/[A-Za-z_$][\w$]{0,99}$/;

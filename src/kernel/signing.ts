import type { Hash, Hex } from './hex.js';

/** ECDSA over secp256k1 with a low s (EIP-2). */
export interface EcdsaSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

/** The type of a transaction (EIP-2718), or an authorization (EIP-7702). */
export type SignableKind = 0 | 1 | 2 | 3 | 4 | 'authorization';

export interface Signable {
  readonly kind: SignableKind;
  /** The unsigned transaction or authorization, for a custody that reads what it signs. */
  readonly bytes: Uint8Array;
  /** Keccak-256 of the bytes. */
  readonly digest: Hash;
}

import type { Hash, Hex } from '../../../kernel/hex.js';
import type { SignerId } from '../../../kernel/signer-id.js';

/** ECDSA over secp256k1 with a low s (EIP-2). */
export interface EcdsaSignature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: 0 | 1;
}

/** Where a key is kept, for operators. It never contains the key. */
export interface CustodyReference {
  readonly type: string;
  readonly path?: string;
}

/** Caps of one signer in the config: wei per gas, and per blob gas; absent where the signer has none of its own. */
export interface SignerFees {
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerBlobGas?: bigint;
}

export interface CustodiedSigner {
  readonly signer: SignerId;
  readonly reference: CustodyReference;
  readonly fees?: SignerFees;
}

/** Holds the private keys and signs with them. */
export abstract class Custody {
  abstract signers(): readonly CustodiedSigner[];
  abstract has(signer: SignerId): boolean;
  /** Signs 32-byte digests, in the given order. */
  abstract sign(signer: SignerId, digests: readonly Hash[]): Promise<EcdsaSignature[]>;
}

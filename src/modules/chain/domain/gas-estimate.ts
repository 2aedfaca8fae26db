import type { Address, Hash, Hex } from '../../../kernel/hex.js';

/** EIP-2930. */
export type AccessList = readonly { readonly address: Address; readonly storageKeys: readonly Hex[] }[];

export interface Call {
  readonly from: Address;
  /** null creates a contract. */
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly accessList?: AccessList;
  /** Versioned hashes (EIP-4844). */
  readonly blobHashes?: readonly Hash[];
  /** EIP-7702. */
  readonly authorizationList?: readonly CallAuthorization[];
}

/** With a signature, so that the node applies it before it runs the call. */
export interface CallAuthorization {
  readonly chainId: bigint;
  readonly address: Address;
  readonly nonce: bigint;
  readonly yParity: 0 | 1;
  readonly r: Hex;
  readonly s: Hex;
}

/** `blockGas`: gas of a block; only where the estimate is so high that it matters, and a node told it. */
export type GasEstimate =
  | { readonly kind: 'ok'; readonly gas: bigint; readonly blockGas?: bigint }
  /** `reason` is decoded: `Error(string)`, `Panic(uint256)`, or the selector of a custom error. */
  | { readonly kind: 'reverted'; readonly reason: string }
  /** Refused for a reason that will not change by itself (too much gas, malformed). */
  | { readonly kind: 'rejected'; readonly message: string }
  | { readonly kind: 'insufficient_funds'; readonly message: string }
  /** The node answered with an error about this call that has no known class; the caller retries a limited number of times. */
  | { readonly kind: 'unclear'; readonly message: string }
  /** No answer to this call alone, while others are answered; the caller retries a limited number of times. */
  | { readonly kind: 'silent'; readonly message: string }
  /** The node could not answer; the caller retries. */
  | { readonly kind: 'unavailable'; readonly message: string };

import type { Address, Hex } from '../../../kernel/hex.js';

/** EIP-2930. */
export type AccessList = readonly { readonly address: Address; readonly storageKeys: readonly Hex[] }[];

export interface Call {
  readonly from: Address;
  /** null creates a contract. */
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly accessList?: AccessList;
}

export type GasEstimate =
  | { readonly kind: 'ok'; readonly gas: bigint }
  /** `reason` is decoded: `Error(string)`, `Panic(uint256)`, or the selector of a custom error. */
  | { readonly kind: 'reverted'; readonly reason: string }
  /** Refused for a reason that will not change by itself (too much gas, malformed). */
  | { readonly kind: 'rejected'; readonly message: string }
  | { readonly kind: 'insufficient_funds'; readonly message: string }
  /** The node answered with an error about this call that has no known class; the caller retries a limited number of times. */
  | { readonly kind: 'unclear'; readonly message: string }
  /** The node could not answer; the caller retries. */
  | { readonly kind: 'unavailable'; readonly message: string };

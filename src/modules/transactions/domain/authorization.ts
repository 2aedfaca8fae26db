import type { Address, Hex } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';

/** EIP-7702: the account that signs it (the authority) runs the code of `address` from now on. */
export interface Authorization {
  /** 0 for every chain. */
  readonly chainId: bigint;
  /** The zero address ends the delegation. */
  readonly address: Address;
  /** Of the authority. It counts as used once the authorization is applied. */
  readonly nonce: Nonce;
}

export interface SignedAuthorization extends Authorization {
  readonly yParity: 0 | 1;
  readonly r: Hex;
  readonly s: Hex;
}

/** Lockstep signs it, with the key of the signer of its transaction and the nonce after that of its transaction. */
export interface OwnAuthorization extends Omit<Authorization, 'nonce'> {
  readonly signer: Address;
}

export type RequestedAuthorization = SignedAuthorization | OwnAuthorization;

export function isOwn(authorization: RequestedAuthorization): authorization is OwnAuthorization {
  return 'signer' in authorization;
}

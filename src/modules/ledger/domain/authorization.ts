import type { Address, Hex } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';

/** EIP-7702: the account that signs it (the authority) runs the code of `address` from now on. */
export interface Authorization {
  /** 0 for every chain. */
  readonly chainId: bigint;
  /** The zero address ends the delegation. */
  readonly address: Address;
  /** The nonce of the authority. It counts as used once the authorization is applied. */
  readonly nonce: Nonce;
}

export interface SignedAuthorization extends Authorization {
  /** The signer with whose key Lockstep has signed it; absent when the client sent the signature. */
  readonly authority?: Address;
  readonly yParity: 0 | 1;
  readonly r: Hex;
  readonly s: Hex;
}

/** Lockstep signs it, with the key of the signer of its transaction and the nonce after that of its transaction. */
export interface OwnAuthorization extends Omit<Authorization, 'nonce'> {
  readonly signer: Address;
}

/** Lockstep signs it with the key of another signer, as soon as nothing of that signer is in flight (docs/decisions/0024-authorizations.md). */
export interface AwaitedAuthorization extends Omit<Authorization, 'nonce'> {
  readonly authority: Address;
}

export type RequestedAuthorization = SignedAuthorization | OwnAuthorization | AwaitedAuthorization;

/** The signers that have to sign for a payload, and did not yet. */
export function awaitedAuthorities(list: readonly RequestedAuthorization[] = []): Address[] {
  return list.flatMap((item) => ('authority' in item && !('r' in item) ? [item.authority] : []));
}

import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { Hash, Hex } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';

export type AttemptKind = 'payload' | 'cancel' | 'fill';
export type AttemptStatus = 'SIGNED' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN' | 'MINED' | 'LOST';

/**
 * Type of a transaction, by EIP-2718: 0 legacy, 1 access list (EIP-2930), 2 fee market (EIP-1559), 3 blobs (EIP-4844), 4 set code
 * (EIP-7702).
 */
export type TxType = 0 | 1 | 2 | 3 | 4;

/** Wei per gas. Of the types 0 and 1, which have one price, both are the gas price. */
export interface AttemptFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Wei per blob gas; only of type 3. */
  readonly maxFeePerBlobGas?: bigint;
}

/** One signed transaction for a slot. Its bytes never change. */
export interface Attempt {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  readonly txHash: Hash;
  readonly raw: Hex;
  readonly kind: AttemptKind;
  readonly txId: string;
  readonly gasLimit: bigint;
  readonly fees: AttemptFees;
  readonly type: TxType;
  /** Number of the block whose fee quote gave the price; null when it is not known. */
  readonly pricedAtBlock: number | null;
  readonly status: AttemptStatus;
  /** The class of the last send's error; null if there was none. */
  readonly errorClass: NodeErrorClass | null;
}

/** What a send showed about an attempt. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly status: 'ACCEPTED' | 'REJECTED' | 'UNKNOWN';
  readonly errorClass: NodeErrorClass | null;
  readonly error: string | null;
  /** The bytes surely never left this node: every connection was refused. */
  readonly notSent: boolean;
  /** Only one endpoint answered. */
  readonly alone: boolean;
}

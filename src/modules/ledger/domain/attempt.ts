import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { Hash, Hex } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';

export type AttemptKind = 'payload' | 'cancel' | 'fill';

/**
 * `SIGNED`: a node may have sent it, and died before it stored the answer. `UNSENT`: its bytes never left this node. `REJECTED`: every node
 * refused it in words, which is no proof that none kept it (docs/invariants.md, I6). `LOST`: another transaction used its nonce.
 */
export const ATTEMPT_STATUSES = ['SIGNED', 'UNSENT', 'ACCEPTED', 'REJECTED', 'UNKNOWN', 'MINED', 'LOST'] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/** Whether its bytes may have reached a node. Then only the chain ends it: when its nonce is final with another transaction. */
export function mayBeOut({ status }: { readonly status: AttemptStatus }): boolean {
  return status !== 'UNSENT';
}

/** Whether a pool may say that it has it: what competes with it for its nonce has to pay more, and to be of its type. */
export function mayBeInPool({ status }: { readonly status: AttemptStatus }): boolean {
  return status !== 'UNSENT' && status !== 'REJECTED';
}

/** Whether no node said anything against it when it was sent last: it was taken, or was there already. */
export function isUnopposed({ errorClass }: Pick<Attempt, 'errorClass'>): boolean {
  return errorClass === null || errorClass === 'already_known';
}

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
  readonly status: 'UNSENT' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN';
  readonly errorClass: NodeErrorClass | null;
  readonly error: string | null;
  /** This time the bytes surely never left this node: every connection was refused. */
  readonly notSent: boolean;
  /** Only one endpoint answered. */
  readonly alone: boolean;
}

import type { BroadcastOutcome, NodeErrorClass } from '../../chain/index.js';
import type { Hash, Hex } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';

export type AttemptKind = 'payload' | 'cancel' | 'fill';
export type AttemptStatus = 'SIGNED' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN' | 'MINED' | 'LOST';

/** EIP-1559 fees, wei per gas. */
export interface AttemptFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** One signed transaction for a slot. Its bytes never change. */
export interface Attempt {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  readonly txHash: Hash;
  readonly raw: Hex;
  readonly kind: AttemptKind;
  /** null for a fill. */
  readonly txId: string | null;
  readonly gasLimit: bigint;
  readonly fees: AttemptFees;
  readonly status: AttemptStatus;
  /** What the last send was answered with, when it was an error. */
  readonly errorClass: NodeErrorClass | null;
}

/**
 * An attempt as it was found in the database. `SIGNED` and `REJECTED` there say only what was recorded: whoever signed it may
 * have sent it (again) and died before the answer was written. Only the process that signed it a moment ago can prove that it
 * is not out.
 */
export function asFound(attempt: Attempt): Attempt {
  return attempt.status === 'SIGNED' || attempt.status === 'REJECTED' ? { ...attempt, status: 'UNKNOWN' } : attempt;
}

/** What a send taught us about an attempt. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  /** `SIGNED` when this send surely never left, and none before it did. */
  readonly status: 'SIGNED' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN';
  /** null also for a send that surely never left: then there is an `error`. */
  readonly errorClass: NodeErrorClass | null;
  readonly error: string | null;
}

/**
 * An attempt that may be out stays that way whatever a later send answers: a refusal of the second send says nothing
 * about the first (I6).
 */
export function outcomeOf(attempt: Attempt, outcome: BroadcastOutcome): AttemptOutcome {
  if (outcome.kind === 'accepted')
    return { attempt, status: 'ACCEPTED', errorClass: outcome.errorClass ?? null, error: null };
  if (outcome.kind === 'not_sent')
    return { attempt, status: statusBefore(attempt), errorClass: null, error: outcome.message };
  const { errorClass, message } = outcome;
  if (attempt.status === 'ACCEPTED') return { attempt, status: 'ACCEPTED', errorClass, error: message };
  const mayBeOut = attempt.status === 'UNKNOWN' || outcome.kind === 'unknown';
  return { attempt, status: mayBeOut ? 'UNKNOWN' : 'REJECTED', errorClass, error: message };
}

/** Nothing was learned by a send that never left. */
function statusBefore({ status }: Attempt): AttemptOutcome['status'] {
  return status === 'SIGNED' || status === 'ACCEPTED' || status === 'REJECTED' ? status : 'UNKNOWN';
}

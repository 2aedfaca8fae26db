import type { BroadcastOutcome } from '../../chain/index.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { Hash, Hex } from '../../../kernel/hex.js';
import { maxOf } from '../../../kernel/quantities.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';

export type AttemptKind = 'payload' | 'cancel' | 'fill';
export type AttemptStatus = 'SIGNED' | 'ACCEPTED' | 'REJECTED' | 'UNKNOWN' | 'MINED' | 'LOST';

/** EIP-1559 fees, wei per gas. */
export interface AttemptFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Of all that may be out: whoever wants the slot must pay more than that. */
export function highestFees(attempts: readonly Attempt[]): AttemptFees | null {
  const rivals = attempts.filter(({ status }) => status !== 'REJECTED').map(({ fees }) => fees);
  const [first] = rivals;
  if (!first) return null;
  return rivals.reduce(
    (highest, fees) => ({
      maxFeePerGas: maxOf(highest.maxFeePerGas, fees.maxFeePerGas),
      maxPriorityFeePerGas: maxOf(highest.maxPriorityFeePerGas, fees.maxPriorityFeePerGas),
    }),
    first,
  );
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
 * An attempt as it was found in the database. `SIGNED` there means that whoever signed it may have sent it and died before the
 * answer was written. `REJECTED` is proof that it is not out: before such an attempt is sent again it is written down as `SIGNED`.
 */
export function asFound(attempt: Attempt): Attempt {
  return attempt.status === 'SIGNED' ? { ...attempt, status: 'UNKNOWN' } : attempt;
}

/** What a send taught us about an attempt. */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly status: 'ACCEPTED' | 'REJECTED' | 'UNKNOWN';
  readonly errorClass: NodeErrorClass | null;
  readonly error: string | null;
  /** The bytes surely never left: every connection was refused. */
  readonly notSent: boolean;
  /** Only one endpoint had a say in it. */
  readonly alone: boolean;
}

/**
 * An attempt that may be out stays that way whatever a later send answers: a refusal of the second send says nothing
 * about the first (I6).
 */
export function outcomeOf(attempt: Attempt, outcome: BroadcastOutcome): AttemptOutcome {
  if (outcome.kind === 'accepted')
    return {
      attempt,
      status: 'ACCEPTED',
      errorClass: outcome.errorClass ?? null,
      error: null,
      notSent: false,
      alone: false,
    };
  const error = outcome.message;
  if (outcome.kind === 'not_sent')
    return { attempt, status: withoutSend(attempt), errorClass: null, error, notSent: true, alone: false };
  const { errorClass } = outcome;
  const alone = outcome.kind === 'rejected' && outcome.alone === true;
  const said = { attempt, errorClass, error, notSent: false, alone };
  if (attempt.status === 'ACCEPTED') return { ...said, status: 'ACCEPTED' };
  const mayBeOut = attempt.status === 'UNKNOWN' || outcome.kind === 'unknown';
  return { ...said, status: mayBeOut ? 'UNKNOWN' : 'REJECTED' };
}

/** What never left is as surely not out as what every node refused. */
function withoutSend({ status }: Attempt): AttemptOutcome['status'] {
  return status === 'SIGNED' || status === 'REJECTED' ? 'REJECTED' : status === 'ACCEPTED' ? 'ACCEPTED' : 'UNKNOWN';
}

import type { BroadcastOutcome } from '../../chain/index.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { Hash, Hex } from '../../../kernel/hex.js';
import type { ManagedTx } from './managed-tx.js';
import { maxOf } from '../../../kernel/quantities.js';
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

/** Refusals of a transaction that a higher price would have avoided. */
const TOO_CHEAP: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'underpriced',
  'replacement_underpriced',
  'fee_cap_too_low',
  'blob_fee_cap_too_low',
]);

/** Whether its last send was refused because it was too cheap; also by a pool that has another attempt of the slot. */
export function refusedForPrice({ errorClass }: Pick<Attempt, 'errorClass'>): boolean {
  return errorClass !== null && TOO_CHEAP.has(errorClass);
}

/**
 * The highest fees of all attempts that may be out, and of those that were refused only because they were too cheap. The next attempt for
 * the slot must pay more.
 */
export function highestFees(attempts: readonly Attempt[]): AttemptFees | null {
  const [first, ...others] = attempts
    .filter((attempt) => attempt.status !== 'REJECTED' || refusedForPrice(attempt))
    .map(({ fees }) => fees);
  return first ? others.reduce(higherOf, first) : null;
}

function higherOf(a: AttemptFees, b: AttemptFees): AttemptFees {
  const blobFee = maxOf(a.maxFeePerBlobGas ?? 0n, b.maxFeePerBlobGas ?? 0n);
  return {
    maxFeePerGas: maxOf(a.maxFeePerGas, b.maxFeePerGas),
    maxPriorityFeePerGas: maxOf(a.maxPriorityFeePerGas, b.maxPriorityFeePerGas),
    ...(blobFee === 0n ? {} : { maxFeePerBlobGas: blobFee }),
  };
}

/**
 * The attempts that decide about a tx: its own, and in a race those of all that compete for the slot. Another tx may have had the slot
 * before and have moved on; its attempts are no concern of this tx.
 */
export function attemptsFor(tx: ManagedTx, ofSlot: readonly Attempt[]): Attempt[] {
  return tx.mayHaveRivals ? [...ofSlot] : ofSlot.filter(({ txId }) => txId === tx.id);
}

/** One signed transaction for a slot. Its bytes never change. */
export interface Attempt {
  readonly signer: SignerId;
  readonly nonce: Nonce;
  readonly txHash: Hash;
  readonly raw: Hex;
  readonly kind: AttemptKind;
  /** Null for a fill of the previous version of Lockstep. */
  readonly txId: string | null;
  readonly gasLimit: bigint;
  readonly fees: AttemptFees;
  readonly type: TxType;
  /** Number of the block whose fee quote gave the price; null when it is not known. */
  readonly pricedAtBlock: number | null;
  readonly status: AttemptStatus;
  /** The class of the last send's error; null if there was none. */
  readonly errorClass: NodeErrorClass | null;
}

/**
 * An attempt as it is stored. `SIGNED` there means that a node may have sent it and died before it stored the answer. `REJECTED` is proof
 * that the attempt is not out: it is stored as `SIGNED` before it is sent again.
 */
export function asFound(attempt: Attempt): Attempt {
  return attempt.status === 'SIGNED' ? { ...attempt, status: 'UNKNOWN' } : attempt;
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

/**
 * An attempt that may be out keeps that status after any later answer: a refusal of the second send says nothing about the first
 * (docs/invariants.md, I6).
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
  const answer = { attempt, errorClass, error, notSent: false, alone };
  if (attempt.status === 'ACCEPTED') return { ...answer, status: 'ACCEPTED' };
  const mayBeOut = attempt.status === 'UNKNOWN' || outcome.kind === 'unknown';
  return { ...answer, status: mayBeOut ? 'UNKNOWN' : 'REJECTED' };
}

/** Bytes that never left this node are not out, like bytes that every node refused. */
function withoutSend({ status }: Attempt): AttemptOutcome['status'] {
  return status === 'SIGNED' || status === 'REJECTED' ? 'REJECTED' : status === 'ACCEPTED' ? 'ACCEPTED' : 'UNKNOWN';
}

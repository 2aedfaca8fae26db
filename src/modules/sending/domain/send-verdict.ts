import { actionOf, type NodeErrorResponse } from '../../chain/domain/index.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { BroadcastOutcome } from '../../chain/index.js';
import { mayBeInPool } from '../../ledger/domain/index.js';
import type { Attempt, AttemptOutcome, TxSubState } from '../../ledger/index.js';
import { backoffMs } from '../../../kernel/backoff.js';

/** What a send means for the tx. */
export type SendVerdict =
  /** A pool has it, or may have it (docs/invariants.md, I6). `counts`: its error counts towards `maxRefusals`. */
  | {
      readonly kind: 'sent';
      readonly subState: TxSubState | null;
      readonly askReceipt: boolean;
      readonly retryInMs: number;
      readonly counts: boolean;
      /** It gets other bytes with this gas. */
      readonly gasLimit?: bigint;
    }
  /** Refused for now; it is sent again later. With `counts` false it does not count towards `maxRefusals`. */
  | {
      readonly kind: 'waiting';
      readonly subState: TxSubState;
      readonly retryInMs: number;
      readonly counts?: false;
      /** It gets other bytes with this gas. */
      readonly gasLimit?: bigint;
    }
  /**
   * Refused for good, or again and again. Its bytes may be out all the same (I6), so a no-op with its nonce competes with it. When the no-op has
   * used the nonce for good, the tx is `FAILED`; or, where the reason lies outside the payload, `PENDING`: it gets another nonce.
   */
  | { readonly kind: 'refused'; readonly as: 'FAILED' | 'PENDING'; readonly reason: string }
  /** The same for a replacement whose original may be out: the original is sent again in its place, and the chain decides. */
  | { readonly kind: 'withdrawn'; readonly reason: string };

/** What the verdict depends on, besides the answer of the nodes. */
export interface SendHistory {
  /** Earlier sends in a row that ended in the same sub state. */
  readonly equalTries: (subState: TxSubState) => number;
  /**
   * Whether a refusal needs a second observation at a later block before it may end the payload: only one endpoint refused it, and for the
   * first time.
   */
  readonly needsSecondObservation: boolean;
  /** Whether a pool may have another attempt of ours with the same nonce: what is refused then is only another price for it. */
  readonly anotherIsOut: boolean;
  /** Whether it is a replacement that no node has accepted, and has the nonce of what it replaces. */
  readonly hasOriginal: boolean;
  /** Whether the chain has not used the nonce, although a node reports it as used again and again. */
  readonly nonceIsFree: boolean;
  /** Whether the balance covers it, although nodes refused it for lack of funds again and again. */
  readonly isFunded: boolean;
  /**
   * Whether pools of the chain looked at other transactions since the last send of this one: took them, had them, or refused them because
   * they have another with the nonce. Then a missing answer is about this one.
   */
  readonly othersGetThrough: boolean;
  /**
   * Whether a pool refused it for a limit, and lower nonces of its signer are not mined. It cannot be mined before them, so it waits, and
   * the pool has room as they are mined.
   */
  readonly waitsForLower: boolean;
  /** Whether the pools of the chain take other transactions now, so that a refusal for a limit is about this one. */
  readonly othersAreTaken: boolean;
  /** The gas limit to sign it with again, because it was refused for its gas, or for what that costs; null where there is none. */
  readonly otherGas: bigint | null;
  /** `maxRefusals`. */
  readonly maxRefusals: number;
  /** `maxRefusalsInDoubt`. */
  readonly maxRefusalsInDoubt: number;
  /** `resubmit.interval`, milliseconds. */
  readonly intervalMs: number;
}

/** Doubled with each try. */
const FIRST_RETRY_MS = 2_000;

/** Reasons that can pass. Every other refusal is about the transaction itself. */
const TEMPORARY_RESPONSES: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>([
  'wait_for_funds',
  'reprice',
  'limit_in_flight',
  'fill_gap',
  'retry_same_bytes',
]);

/**
 * Errors of unknown outcome that are about this very transaction: they count even if no other transaction is accepted. All other errors of
 * unknown outcome may come from a node that accepts no transaction at all, and must not end a payload.
 */
const ABOUT_THE_TX: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>(['tx_type_conflict', 'hash_mismatch']);

/** Whether a pool refuses such a transaction only because of how many it has: of the signer, or at all. */
function isPoolLimit(errorClass: NodeErrorClass): boolean {
  return errorClass === 'txpool_full' || actionOf(errorClass).response === 'limit_in_flight';
}

/** A node that takes only the next nonce refuses all others as too high. Where no lower one is in flight it has only not seen the last block. */
export function mayBePoolLimit(errorClass: NodeErrorClass): boolean {
  return isPoolLimit(errorClass) || actionOf(errorClass).response === 'fill_gap';
}

/** Answers of a pool that has another transaction with the nonce, and keeps it. */
export const HAS_ANOTHER: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'replacement_underpriced',
  'replaced_by_other',
]);

/** @param tries equal refusals before this one */
export function pauseAfterRefusals(tries: number): number {
  return backoffMs(FIRST_RETRY_MS, tries);
}

export function verdictOf(outcome: AttemptOutcome, history: SendHistory): SendVerdict {
  const { errorClass } = outcome;
  if (outcome.notSent) return notSent(outcome, history);
  if (errorClass === null) return sent(null, history.intervalMs);
  // The pool has the other attempt. The next price begins at the refused one.
  if (history.anotherIsOut && HAS_ANOTHER.has(errorClass)) return sent(null, history.intervalMs);
  const action = actionOf(errorClass);
  // Accepted once, and now a node reports its nonce as used: most likely by this very attempt, else by a foreign transaction.
  if (action.response === 'check_receipts') {
    if (history.nonceIsFree && isOver('NONCE_SYNC', history)) return refused('FAILED', reasonOf(outcome));
    return { ...sent(action.outcome === 'accepted' ? null : 'NONCE_SYNC', history.intervalMs), askReceipt: true };
  }
  if (action.outcome === 'accepted') return sent(null, history.intervalMs);
  if (history.otherGas !== null && !isOver('NODE_REFUSED', history))
    return withOtherGas(outcome, errorClass, history, history.otherGas);
  return outcome.status === 'REJECTED'
    ? refusedInWords(outcome, errorClass, history)
    : refusedInDoubt(outcome, errorClass, history);
}

function refused(as: 'FAILED' | 'PENDING', reason: string): SendVerdict {
  return { kind: 'refused', as, reason };
}

function sent(subState: TxSubState | null, retryInMs: number): Extract<SendVerdict, { kind: 'sent' }> {
  return { kind: 'sent', subState, askReceipt: false, retryInMs, counts: true };
}

/** The bytes surely never left this process, so nothing is known about how nodes treat them. */
function notSent({ status }: AttemptOutcome, history: SendHistory): SendVerdict {
  const subState = 'NODE_UNAVAILABLE';
  const retryInMs = pauseAfterRefusals(history.equalTries(subState));
  return mayBeInPool({ status }) ? sent(subState, retryInMs) : { kind: 'waiting', subState, retryInMs };
}

/** Its estimate was wrong, or is outdated: the payload is signed again with other gas, whether these bytes are out or not. */
function withOtherGas(
  { status }: AttemptOutcome,
  errorClass: NodeErrorClass,
  { equalTries }: SendHistory,
  gasLimit: bigint,
): SendVerdict {
  const subState = subStateOf(errorClass);
  const retryInMs = pauseAfterRefusals(equalTries(subState));
  return mayBeInPool({ status })
    ? { ...sent(subState, retryInMs), gasLimit }
    : { kind: 'waiting', subState, retryInMs, gasLimit };
}

/** `REJECTED` means that no send of this attempt was accepted or has an unknown outcome. A node may have kept it all the same. */
function refusedInWords(outcome: AttemptOutcome, errorClass: NodeErrorClass, history: SendHistory): SendVerdict {
  const reason = reasonOf(outcome);
  const { response } = actionOf(errorClass);
  const subState = subStateOf(errorClass);
  const tries = history.equalTries(subState);
  const retryInMs = pauseAfterRefusals(tries);
  if (history.waitsForLower)
    return { kind: 'waiting', subState: 'POOL_LIMIT', retryInMs: history.intervalMs, counts: false };
  const end = (as: 'FAILED' | 'PENDING', why: string): SendVerdict =>
    history.hasOriginal ? { kind: 'withdrawn', reason: why } : refused(as, why);
  if (response === 'fail_payload' && !history.needsSecondObservation) return end('FAILED', reason);
  if (response === 'fail_payload' || history.anotherIsOut || !isOver(subState, history))
    return { kind: 'waiting', subState, retryInMs };
  // A no-op needs funds, too. A top-up lets the payload go on, and its client may cancel it. An original may be affordable.
  if (response === 'wait_for_funds' && !history.isFunded && !history.hasOriginal)
    return { kind: 'waiting', subState, retryInMs };
  const again = `refused ${tries + 1} times: ${reason}`;
  return end(TEMPORARY_RESPONSES.has(response) ? 'PENDING' : 'FAILED', again);
}

/** An earlier send may be out, so a refusal of this one proves nothing (I6). */
function refusedInDoubt(outcome: AttemptOutcome, errorClass: NodeErrorClass, history: SendHistory): SendVerdict {
  const { outcome: result, response } = actionOf(errorClass);
  const reason = reasonOf(outcome);
  const subState = result === 'unknown' ? 'OUTCOME_UNKNOWN' : subStateOf(errorClass);
  if (history.waitsForLower) return { ...sent('POOL_LIMIT', history.intervalMs), counts: false };
  if (result === 'unknown') {
    const counts = history.othersGetThrough || ABOUT_THE_TX.has(errorClass);
    if (counts && isOver(subState, history, history.maxRefusalsInDoubt)) return refused('FAILED', reason);
    return { ...sent(subState, history.intervalMs), counts };
  }
  const most = TEMPORARY_RESPONSES.has(response) ? history.maxRefusalsInDoubt : history.maxRefusals;
  const isEnd = response === 'fail_payload' ? !history.needsSecondObservation : isOver(subState, history, most);
  // A no-op needs funds, too. A top-up lets the payload go on, and its client may cancel it. With funds there is nothing to wait for.
  if (isEnd && (response !== 'wait_for_funds' || history.isFunded)) return refused('FAILED', reason);
  return sent(subState, pauseAfterRefusals(history.equalTries(subState)));
}

/** Whether this try is the last that is allowed with the same result. A pool that takes nothing at all has nothing against this one. */
function isOver(
  subState: TxSubState,
  { equalTries, maxRefusals, othersAreTaken }: SendHistory,
  most = maxRefusals,
): boolean {
  return equalTries(subState) + 1 >= most && (subState !== 'POOL_LIMIT' || othersAreTaken);
}

function subStateOf(errorClass: NodeErrorClass): TxSubState {
  if (isPoolLimit(errorClass)) return 'POOL_LIMIT';
  const { response } = actionOf(errorClass);
  if (response === 'wait_for_funds') return 'INSUFFICIENT_FUNDS';
  return response === 'reprice' ? 'FEE_CAPPED' : 'NODE_REFUSED';
}

function reasonOf({ error, errorClass }: AttemptOutcome): string {
  return error ?? errorClass ?? 'refused';
}

/**
 * An attempt as it is stored. `SIGNED` there means that a node may have sent it and died before it stored the answer. `UNSENT` is proof that
 * the attempt is not out: it is stored as `SIGNED` before it is sent.
 */
export function asFound(attempt: Attempt): Attempt {
  return attempt.status === 'SIGNED' ? { ...attempt, status: 'UNKNOWN' } : attempt;
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

/** What is known of an attempt after a send that did not leave this node. */
function withoutSend({ status }: Attempt): AttemptOutcome['status'] {
  if (status === 'SIGNED' || status === 'UNSENT') return 'UNSENT';
  return status === 'REJECTED' || status === 'ACCEPTED' ? status : 'UNKNOWN';
}

import { actionOf, type NodeErrorResponse } from '../../chain/index.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { AttemptOutcome, TxSubState } from '../../transactions/index.js';
import { backoffMs } from '../../../kernel/backoff.js';

/** What a send means for the tx. */
export type SendVerdict =
  /** In a pool, or maybe (I6). `counts`: an error of it counts towards `resubmit.maxRefusals`. */
  | {
      readonly kind: 'sent';
      readonly subState: TxSubState | null;
      readonly askReceipt: boolean;
      readonly retryInMs: number;
      readonly counts: boolean;
    }
  /** Refused for now; it goes out again after a while. */
  | { readonly kind: 'waiting'; readonly subState: TxSubState; readonly retryInMs: number }
  /** Every endpoint refused every send of the slot, for good: nothing is out, and the slot is free (I7). */
  | { readonly kind: 'refused_for_good'; readonly reason: string }
  /**
   * Every endpoint refused every send of the slot, again and again, and the payload is not to blame: the slot is freed for
   * others, and the payload waits without a nonce.
   */
  | { readonly kind: 'requeued'; readonly subState: TxSubState; readonly retryInMs: number }
  /** Refused now, but an earlier send may be out: the slot must be closed by a competing no-op. */
  | { readonly kind: 'refused_in_doubt'; readonly reason: string };

/** What the verdict depends on besides the answer of the nodes. */
export interface SendHistory {
  /** Sends before this one that came to the same, one after the other. */
  readonly equalTries: (subState: TxSubState) => number;
  /**
   * Whether another look at a later block is wanted before a refusal ends a payload: one endpoint alone said so, and had not
   * said so before.
   */
  readonly needsSecondObservation: boolean;
  /** Whether the chain has not used the nonce, although a node says so again and again. */
  readonly nonceIsFree: boolean;
  /** Whether the chain took other transactions since this one was sent last, so that a missing answer is about this one. */
  readonly othersGetThrough: boolean;
  /** `resubmit.maxRefusals` */
  readonly maxRefusals: number;
  /** `resubmit.maxRefusalsInDoubt` */
  readonly maxRefusalsInDoubt: number;
  /** `resubmit.interval`, milliseconds. */
  readonly intervalMs: number;
}

/** Milliseconds, doubled with each try. */
const FIRST_RETRY_MS = 2_000;

/** Circumstances change by themselves; whatever else is refused is refused because of what it is. */
const CIRCUMSTANCES: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>([
  'wait_for_funds',
  'reprice',
  'limit_in_flight',
  'fill_gap',
  'retry_same_bytes',
]);

/**
 * Open, but about this very transaction: whether others get through says nothing of them. All other open answers may be those of a node
 * that takes nothing from anybody, and a payload must not end for that.
 */
const ABOUT_THE_TX: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>(['tx_type_conflict', 'hash_mismatch']);

export function verdictOf(outcome: AttemptOutcome, history: SendHistory): SendVerdict {
  const { errorClass } = outcome;
  if (outcome.notSent) return notSent(outcome, history);
  if (errorClass === null) return sent(null, history.intervalMs);
  const action = actionOf(errorClass);
  // Accepted once, and its nonce is called used now: by this very attempt, most likely, or by a transaction that is not ours.
  if (action.response === 'check_receipts') {
    if (history.nonceIsFree && isOver('NONCE_SYNC', history))
      return { kind: 'refused_in_doubt', reason: wordsOf(outcome) };
    return { ...sent(action.outcome === 'accepted' ? null : 'NONCE_SYNC', history.intervalMs), askReceipt: true };
  }
  if (action.outcome === 'accepted') return sent(null, history.intervalMs);
  return outcome.status === 'REJECTED'
    ? refusedWithProof(outcome, action.response, history)
    : refusedInDoubt(outcome, errorClass, history);
}

function sent(subState: TxSubState | null, retryInMs: number): Extract<SendVerdict, { kind: 'sent' }> {
  return { kind: 'sent', subState, askReceipt: false, retryInMs, counts: true };
}

/** The bytes surely never left this process, so nothing was learned about them. */
function notSent({ status }: AttemptOutcome, history: SendHistory): SendVerdict {
  const subState = 'NODE_UNAVAILABLE';
  const retryInMs = backoffMs(FIRST_RETRY_MS, history.equalTries(subState));
  const mayBeOut = status === 'UNKNOWN' || status === 'ACCEPTED';
  return mayBeOut ? sent(subState, retryInMs) : { kind: 'waiting', subState, retryInMs };
}

/** `REJECTED` says that no send of this attempt was ever accepted or in doubt. */
function refusedWithProof(outcome: AttemptOutcome, response: NodeErrorResponse, history: SendHistory): SendVerdict {
  const reason = wordsOf(outcome);
  const subState = subStateOf(response);
  const tries = history.equalTries(subState);
  const retryInMs = backoffMs(FIRST_RETRY_MS, tries);
  if (response === 'fail_payload' && !history.needsSecondObservation) return { kind: 'refused_for_good', reason };
  if (response === 'fail_payload' || !isOver(subState, history)) return { kind: 'waiting', subState, retryInMs };
  return CIRCUMSTANCES.has(response)
    ? { kind: 'requeued', subState, retryInMs }
    : { kind: 'refused_for_good', reason: `refused ${tries + 1} times: ${reason}` };
}

/** An earlier send may be out, whatever is said of this one (I6). */
function refusedInDoubt(outcome: AttemptOutcome, errorClass: NodeErrorClass, history: SendHistory): SendVerdict {
  const { outcome: said, response } = actionOf(errorClass);
  const reason = wordsOf(outcome);
  const subState = said === 'unknown' ? 'OUTCOME_UNKNOWN' : subStateOf(response);
  if (said === 'unknown') {
    const counts = history.othersGetThrough || ABOUT_THE_TX.has(errorClass);
    if (counts && isOver(subState, history, history.maxRefusalsInDoubt)) return { kind: 'refused_in_doubt', reason };
    return { ...sent(subState, history.intervalMs), counts };
  }
  const most = CIRCUMSTANCES.has(response) ? history.maxRefusalsInDoubt : history.maxRefusals;
  const isEnd = response === 'fail_payload' ? !history.needsSecondObservation : isOver(subState, history, most);
  if (isEnd) return { kind: 'refused_in_doubt', reason };
  return sent(subState, backoffMs(FIRST_RETRY_MS, history.equalTries(subState)));
}

/** This one included, it came to the same as often as is allowed. */
function isOver(subState: TxSubState, { equalTries, maxRefusals }: SendHistory, most = maxRefusals): boolean {
  return equalTries(subState) + 1 >= most;
}

function subStateOf(response: NodeErrorResponse): TxSubState {
  if (response === 'wait_for_funds') return 'INSUFFICIENT_FUNDS';
  return response === 'reprice' ? 'FEE_CAPPED' : 'NODE_REFUSED';
}

function wordsOf({ error, errorClass }: AttemptOutcome): string {
  return error ?? errorClass ?? 'refused';
}

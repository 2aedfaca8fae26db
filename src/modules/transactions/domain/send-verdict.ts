import { actionOf, type NodeErrorResponse } from '../../chain/index.js';
import type { AttemptOutcome } from './attempt.js';
import type { TxSubState } from './tx-state-machine.js';

/** What a send means for the tx. */
export type SendVerdict =
  /** In a pool, or maybe (I6). */
  | { readonly kind: 'sent'; readonly subState: TxSubState | null; readonly askReceipt: boolean }
  /** Refused for now; the same bytes go out again after a while. */
  | { readonly kind: 'waiting'; readonly subState: TxSubState | null; readonly retryInMs: number }
  /** Every endpoint refused every send of these bytes, for good: nothing is out, and the slot is free (I7). */
  | { readonly kind: 'refused_for_good'; readonly reason: string }
  /** Refused for good now, but an earlier send may be out: the slot must be closed by a competing no-op. */
  | { readonly kind: 'refused_in_doubt'; readonly reason: string };

const SOON_MS = 2_000;
const LATER_MS = 15_000;

export function verdictOf(outcome: AttemptOutcome): SendVerdict {
  const { status, errorClass } = outcome;
  // No answer, and an error all the same: it surely never left, and goes out as soon as an endpoint can be reached.
  if (errorClass === null && outcome.error !== null && status !== 'ACCEPTED')
    return { kind: 'waiting', subState: null, retryInMs: SOON_MS };
  if (errorClass === null) return { kind: 'sent', subState: null, askReceipt: false };
  const { response, outcome: verdict } = actionOf(errorClass);
  const isAccepted = verdict === 'accepted';
  const reason = outcome.error ?? errorClass;
  // `REJECTED` says that no send of this attempt was ever accepted or in doubt.
  if (response === 'fail_payload' && status === 'REJECTED') return { kind: 'refused_for_good', reason };
  if (response === 'fail_payload' && status === 'UNKNOWN') return { kind: 'refused_in_doubt', reason };
  // Accepted once, and its nonce is called used now: by this very attempt, most likely, or by a transaction that is not ours.
  if (response === 'check_receipts')
    return { kind: 'sent', subState: isAccepted ? null : 'NONCE_SYNC', askReceipt: true };
  if (status === 'ACCEPTED') return { kind: 'sent', subState: null, askReceipt: false };
  const waiting = waitingFor(response);
  if (status === 'REJECTED') return waiting;
  return { kind: 'sent', subState: waiting.subState ?? 'OUTCOME_UNKNOWN', askReceipt: false };
}

function waitingFor(response: NodeErrorResponse): Extract<SendVerdict, { kind: 'waiting' }> {
  switch (response) {
    case 'wait_for_funds':
      return { kind: 'waiting', subState: 'INSUFFICIENT_FUNDS', retryInMs: LATER_MS };
    case 'reprice':
      return { kind: 'waiting', subState: 'FEE_CAPPED', retryInMs: LATER_MS };
    // An operator has to act, so there is no hurry; a refusal without proof is asked about again, too.
    case 'stop_signer':
    case 'stop_chain':
    case 'fail_payload':
      return { kind: 'waiting', subState: null, retryInMs: LATER_MS };
    case 'track':
    case 'check_receipts':
    case 'retry_same_bytes':
    case 'try_other_endpoints':
    case 'fill_gap':
    case 'limit_in_flight':
      return { kind: 'waiting', subState: null, retryInMs: SOON_MS };
  }
}

import { actionOf, type NodeErrorClass, type NodeErrorResponse } from '../../chain/index.js';
import type { AttemptOutcome } from './attempt.js';
import type { TxSubState } from './tx-state-machine.js';

/** What a send means for the tx. */
export type SendVerdict =
  /** In a pool, or maybe (I6). */
  | { readonly kind: 'sent'; readonly subState: TxSubState | null; readonly askReceipt: boolean }
  /** Refused for now; the same bytes go out again after a while. */
  | { readonly kind: 'waiting'; readonly subState: TxSubState | null; readonly retryInMs: number }
  /** Every endpoint refused these very bytes, for a reason that lies in them: nothing is out, and the slot is free (I7). */
  | { readonly kind: 'refused_for_good'; readonly reason: string };

const SOON_MS = 2_000;
const LATER_MS = 15_000;

/** Refusals that lie in the bytes themselves: a node that refuses them now refused them before, too. */
const LIES_IN_THE_BYTES: ReadonlySet<NodeErrorClass> = new Set([
  'intrinsic_gas_too_low',
  'gas_limit_exceeds_block',
  'oversized_data',
  'invalid_transaction',
  'blob_error',
]);

export function verdictOf(outcome: AttemptOutcome): SendVerdict {
  const { status, errorClass } = outcome;
  if (errorClass === null) return { kind: 'sent', subState: null, askReceipt: false };
  const { response } = actionOf(errorClass);
  if (response === 'fail_payload' && isProven(outcome, errorClass))
    return { kind: 'refused_for_good', reason: outcome.error ?? errorClass };
  if (status === 'ACCEPTED') return { kind: 'sent', subState: null, askReceipt: response === 'check_receipts' };
  if (response === 'check_receipts') return { kind: 'sent', subState: 'NONCE_SYNC', askReceipt: true };
  if (status === 'UNKNOWN') return { kind: 'sent', subState: 'OUTCOME_UNKNOWN', askReceipt: false };
  return waitingFor(response);
}

function waitingFor(response: NodeErrorResponse): SendVerdict {
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

/** `REJECTED` says that no send of this attempt was ever accepted or in doubt. */
function isProven({ status, attempt }: AttemptOutcome, errorClass: NodeErrorClass): boolean {
  return status === 'REJECTED' || (attempt.status === 'UNKNOWN' && LIES_IN_THE_BYTES.has(errorClass));
}

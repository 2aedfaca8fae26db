import type { BroadcastOutcome } from './broadcast-outcome.js';
import { actionOf, type NodeErrorResponse } from './node-error-action.js';

type Possible = Extract<BroadcastOutcome, { kind: 'accepted' | 'unknown' }>;
type Rejected = Extract<BroadcastOutcome, { kind: 'rejected' }>;
type NotSent = Extract<BroadcastOutcome, { kind: 'not_sent' }>;

const PAYLOAD_FAULTS: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>(['fail_payload']);
/** Refused for good: for what the transaction is, or by the policy of a node, which another node may not have. */
const REFUSED_FOR_GOOD: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>([
  ...PAYLOAD_FAULTS,
  'try_other_endpoints',
  'stop_signer',
  'stop_chain',
]);

/**
 * Combines the outcomes of one transaction at several endpoints. Accepted beats unknown, and unknown beats rejected. Of several unknown
 * outcomes, a used nonce beats a time-out. "Refused for good" needs every endpoint: an endpoint that refused for now, or could not be
 * reached, may accept the same bytes later.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const possible = outcomes.filter((outcome) => outcome.kind === 'accepted' || outcome.kind === 'unknown');
  const [best] = possible.sort((a, b) => rank(a) - rank(b));
  if (best) return best;
  const refusals = outcomes.filter((outcome) => outcome.kind === 'rejected');
  const [unreached] = outcomes.filter((outcome) => outcome.kind === 'not_sent');
  const [first] = refusals;
  if (first === undefined) return unreached ?? { kind: 'not_sent', message: 'no endpoint could be asked' };
  // The mildest refusal: a refusal for now, or by the policy of a node, is not a fault of the payload.
  const mildest = refusals.find((each) => !isOf(each, PAYLOAD_FAULTS)) ?? first;
  if (unreached && isOf(mildest, REFUSED_FOR_GOOD)) return refusedByReachable(mildest, unreached);
  return outcomes.length === 1 ? { ...mildest, alone: true } : mildest;
}

function rank(outcome: Possible): number {
  if (outcome.kind === 'accepted') return outcome.errorClass === undefined ? 0 : 1;
  return actionOf(outcome.errorClass).response === 'check_receipts' ? 2 : 3;
}

function isOf({ errorClass }: Rejected, responses: ReadonlySet<NodeErrorResponse>): boolean {
  return responses.has(actionOf(errorClass).response);
}

/** Not sent, and to be retried: the class has this effect, the message gives both reasons. */
function refusedByReachable({ message }: Rejected, unreached: NotSent): Rejected {
  return {
    kind: 'rejected',
    errorClass: 'transient',
    message: `${message}; not all endpoints were reached: ${unreached.message}`,
  };
}

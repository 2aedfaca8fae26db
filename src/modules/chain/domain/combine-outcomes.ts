import type { BroadcastOutcome } from './broadcast-outcome.js';
import { actionOf, type NodeErrorResponse } from './node-error-action.js';

type Possible = Extract<BroadcastOutcome, { kind: 'accepted' | 'unknown' }>;
type Rejected = Extract<BroadcastOutcome, { kind: 'rejected' }>;
type NotSent = Extract<BroadcastOutcome, { kind: 'not_sent' }>;

const FAULTS: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>(['fail_payload']);
/** By what it is, or by the policy of each node that was asked: another node may think otherwise. */
const FOR_GOOD: ReadonlySet<NodeErrorResponse> = new Set<NodeErrorResponse>([
  ...FAULTS,
  'try_other_endpoints',
  'stop_signer',
  'stop_chain',
]);

/**
 * What several endpoints together said about one transaction: one success beats any error, "maybe" beats "no". Among
 * equals, the answer that says most: a taken nonce before a time-out. "Refused for good" needs every endpoint: one that refused for
 * now, or could not be reached, may take the same bytes later.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const possible = outcomes.filter((outcome) => outcome.kind === 'accepted' || outcome.kind === 'unknown');
  const [best] = possible.sort((a, b) => rank(a) - rank(b));
  if (best) return best;
  const refusals = outcomes.filter((outcome) => outcome.kind === 'rejected');
  const [unreached] = outcomes.filter((outcome) => outcome.kind === 'not_sent');
  const [first] = refusals;
  if (first === undefined) return unreached ?? { kind: 'not_sent', message: 'no endpoint could be asked' };
  // The mildest: what was refused for now, or by the policy of a node, is no fault of the payload.
  const mildest = refusals.find((each) => !isOf(each, FAULTS)) ?? first;
  if (unreached && isOf(mildest, FOR_GOOD)) return refusedByTheReached(mildest, unreached);
  return outcomes.length === 1 ? { ...mildest, alone: true } : mildest;
}

function rank(outcome: Possible): number {
  if (outcome.kind === 'accepted') return outcome.errorClass === undefined ? 0 : 1;
  return actionOf(outcome.errorClass).response === 'check_receipts' ? 2 : 3;
}

function isOf({ errorClass }: Rejected, responses: ReadonlySet<NodeErrorResponse>): boolean {
  return responses.has(actionOf(errorClass).response);
}

/** Surely not out, and to be tried again: the class says so, the message says why. */
function refusedByTheReached({ message }: Rejected, unreached: NotSent): Rejected {
  return {
    kind: 'rejected',
    errorClass: 'transient',
    message: `${message}; and not asked of all: ${unreached.message}`,
  };
}

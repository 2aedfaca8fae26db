import type { BroadcastOutcome } from './broadcast-outcome.js';
import { actionOf } from './node-error-action.js';

type Rejected = Extract<BroadcastOutcome, { kind: 'rejected' }>;
type NotSent = Extract<BroadcastOutcome, { kind: 'not_sent' }>;

/**
 * What several endpoints together said about one transaction: one success beats any error, "maybe" beats "no". Among
 * equals, the answer that says most: a taken nonce before a time-out. "Refused for good" needs every endpoint: one that refused for
 * now, or could not be reached, may take the same bytes later.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const possible = outcomes.filter(({ kind }) => kind === 'accepted' || kind === 'unknown');
  const [best] = possible.sort((a, b) => rank(a) - rank(b));
  if (best) return best;
  const refusals = outcomes.filter((outcome) => outcome.kind === 'rejected');
  const [unreached] = outcomes.filter((outcome) => outcome.kind === 'not_sent');
  const [first] = refusals;
  if (first === undefined) return unreached ?? { kind: 'not_sent', message: 'no endpoint could be asked' };
  const forNow = refusals.find((refusal) => !isForGood(refusal));
  if (forNow) return forNow;
  if (unreached) return refusedByTheReached(first, unreached);
  return outcomes.length === 1 ? { ...first, alone: true } : first;
}

function rank(outcome: BroadcastOutcome): number {
  if (outcome.kind === 'accepted') return outcome.errorClass === undefined ? 0 : 1;
  return outcome.kind === 'unknown' && actionOf(outcome.errorClass).response === 'check_receipts' ? 2 : 3;
}

function isForGood({ errorClass }: Rejected): boolean {
  return actionOf(errorClass).response === 'fail_payload';
}

/** Surely not out, and to be tried again: the class says so, the message says why. */
function refusedByTheReached({ message }: Rejected, unreached: NotSent): Rejected {
  return {
    kind: 'rejected',
    errorClass: 'transient',
    message: `${message}; and not asked of all: ${unreached.message}`,
  };
}

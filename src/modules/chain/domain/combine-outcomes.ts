import type { BroadcastOutcome } from './broadcast-outcome.js';
import { actionOf } from './node-error-action.js';

/**
 * What several endpoints together said about one transaction: one success beats any error, "maybe" beats "no". Among
 * equals, the answer that says most: a taken nonce before a time-out, a fault of the payload before a node's own policy.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  const [best] = [...outcomes].sort((a, b) => rank(a) - rank(b));
  return best ?? { kind: 'unknown', errorClass: 'transient', message: 'no endpoint could be asked' };
}

function rank(outcome: BroadcastOutcome): number {
  switch (outcome.kind) {
    case 'accepted':
      return outcome.errorClass === undefined ? 0 : 1;
    case 'unknown':
      return actionOf(outcome.errorClass).response === 'check_receipts' ? 2 : 3;
    case 'rejected':
      return actionOf(outcome.errorClass).response === 'try_other_endpoints' ? 5 : 4;
  }
}

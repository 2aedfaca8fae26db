import type { Attempt, AttemptOutcome, ManagedTx } from '../../transactions/index.js';
import type { SendVerdict } from '../domain/send-verdict.js';

/** Stored signed bytes, and their tx. */
export interface Sending {
  readonly tx: ManagedTx;
  readonly attempt: Attempt;
}

/** A send, and what the endpoints answered. */
export interface AnsweredSend extends Sending {
  readonly outcome: AttemptOutcome;
}

/** A send, and what its answer means for the tx. */
export interface ClassifiedSend extends AnsweredSend {
  readonly verdict: SendVerdict;
}

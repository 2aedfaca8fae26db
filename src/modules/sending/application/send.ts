import type { Attempt, AttemptOutcome, ManagedTx } from '../../transactions/index.js';
import type { SendVerdict } from '../domain/send-verdict.js';

/** Bytes to send, and the tx they are for (null for a fill). */
export interface Sending {
  readonly tx: ManagedTx | null;
  readonly attempt: Attempt;
}

/** What a send was answered with. */
export interface AnsweredSend extends Sending {
  readonly outcome: AttemptOutcome;
}

/** What that means. */
export interface ClassifiedSend extends AnsweredSend {
  readonly verdict: SendVerdict;
}

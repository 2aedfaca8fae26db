import type { Attempt, AttemptOutcome } from '../domain/attempt.js';
import type { ManagedTx } from '../domain/managed-tx.js';
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
export interface JudgedSend extends AnsweredSend {
  readonly verdict: SendVerdict;
}

import { type Attempt, type AttemptOutcome, type ManagedTx, mayBeInPool } from '../../ledger/index.js';
import type { SendVerdict } from '../domain/send-verdict.js';
import { sameSigner } from '../../../kernel/signer-id.js';

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

type InSlot = Pick<Attempt, 'signer' | 'nonce' | 'txHash'>;

/** Whether a pool may have other bytes with the nonce of `refused`. */
export function anotherMayBeInPool(refused: InSlot, known: readonly (InSlot & Pick<Attempt, 'status'>)[]): boolean {
  return known.some(
    ({ txHash, nonce, signer, status }) =>
      txHash !== refused.txHash &&
      nonce === refused.nonce &&
      sameSigner(signer, refused.signer) &&
      mayBeInPool({ status }),
  );
}

import type { AttemptFees } from '../domain/attempt.js';
import type { RequestedTx } from '../domain/managed-tx.repository.js';
import type { AttemptDraft } from './attempt-signer.js';

/** What the client asked for, at the nonce of its tx. */
export function payloadDraft({ tx, request }: RequestedTx, fees: AttemptFees): AttemptDraft {
  const { to, value, data, accessList } = request.payload;
  const { gasLimit } = tx.progress;
  return {
    signer: tx.signer,
    nonce: tx.nonce,
    kind: 'payload',
    txId: tx.id,
    to,
    value,
    data,
    accessList,
    // The CHECK of the table and `allocated()` see to it that there is one.
    gasLimit: gasLimit ?? 0n,
    fees,
  };
}

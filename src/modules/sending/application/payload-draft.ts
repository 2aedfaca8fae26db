import type { AttemptFees, RequestedTx } from '../../transactions/index.js';
import type { AttemptDraft } from './attempt-signer.js';

/** The CHECK of the table and `allocated()` see to it that there is one. */
export function gasLimitOf({ tx }: Pick<RequestedTx, 'tx'>): bigint {
  return tx.progress.gasLimit ?? 0n;
}

/** What the client asked for, at the nonce of its tx. */
export function payloadDraft(item: RequestedTx, fees: AttemptFees): AttemptDraft {
  const { tx, request } = item;
  const { to, value, data, accessList } = request.payload;
  return {
    signer: tx.signer,
    nonce: tx.nonce,
    kind: 'payload',
    txId: tx.id,
    to,
    value,
    data,
    accessList,
    gasLimit: gasLimitOf(item),
    fees,
  };
}

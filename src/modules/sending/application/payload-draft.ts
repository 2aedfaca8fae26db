import { type AttemptFees, isOwn, type RequestedTx, type TxType } from '../../transactions/index.js';
import type { AttemptDraft } from './attempt-signer.js';

/** A CHECK of the table and `allocated()` make sure that an allocated tx has a gas limit. */
export function gasLimitOf({ tx }: Pick<RequestedTx, 'tx'>): bigint {
  return tx.progress.gasLimit ?? 0n;
}

/**
 * Builds the draft of the client's payload, with the nonce of its tx.
 * @param pricedAtBlock of the quote that gave the fees
 */
export function payloadDraft(item: RequestedTx, fees: AttemptFees, pricedAtBlock: number, type: TxType): AttemptDraft {
  const { tx, request } = item;
  const { to, value, data, accessList, blobHashes, authorizationList } = request.payload;
  return {
    signer: tx.signer,
    nonce: tx.nonce,
    kind: tx.kind,
    txId: tx.id,
    to,
    value,
    data,
    accessList,
    ...(blobHashes && { blobHashes }),
    ...(authorizationList && {
      // The account has used the nonce of the transaction before the authorization is applied.
      authorizationList: authorizationList.map((item) => (isOwn(item) ? { ...item, nonce: tx.nonce + 1n } : item)),
    }),
    gasLimit: gasLimitOf(item),
    fees,
    type,
    pricedAtBlock,
  };
}

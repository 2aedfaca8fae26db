import { InvariantViolation } from '../../../kernel/errors.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import {
  type AttemptFees,
  type Authorization,
  isAwaited,
  isOwn,
  type RequestedAuthorization,
  type RequestedTx,
  type SignedAuthorization,
  type TxType,
} from '../../transactions/index.js';
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
      authorizationList: authorizationList.map((item) => withNonce(item, tx.nonce)),
    }),
    gasLimit: gasLimitOf(item),
    fees,
    type,
    pricedAtBlock,
  };
}

/** A lane gives a payload no nonce before all other signers have signed. */
function withNonce(item: RequestedAuthorization, nonce: Nonce): Authorization | SignedAuthorization {
  if (isAwaited(item))
    throw new InvariantViolation('an authorization is not signed yet', { authority: item.authority });
  return isOwn(item) ? { ...item, nonce: nonce + 1n } : item;
}

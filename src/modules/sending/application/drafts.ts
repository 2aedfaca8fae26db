import { InvariantViolation } from '../../../kernel/errors.js';
import type { Call } from '../../chain/index.js';
import {
  type AttemptFees,
  type Authorization,
  type ManagedTx,
  noOpPayload,
  type RequestedTx,
  type SignedAuthorization,
  type StoredRequest,
  type TxType,
  unsignedPermit,
} from '../../ledger/index.js';
import type { AttemptDraft } from './attempt-signer.js';

/** The call whose gas a node estimates for a payload. It counts only authorizations that have a signature. */
export function callOf({ signer, payload }: Pick<StoredRequest, 'signer' | 'payload'>): Call {
  return {
    from: signer.address,
    to: payload.to,
    value: payload.value,
    data: payload.data,
    accessList: payload.accessList,
    ...(payload.blobHashes && { blobHashes: payload.blobHashes }),
    ...(payload.authorizationList && {
      authorizationList: payload.authorizationList.flatMap((item) => ('r' in item ? [item] : [])),
    }),
  };
}

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
  const unsigned = unsignedPermit(request.payload);
  // A lane gives a payload no nonce before its permits are made; then its attempts have them.
  if (unsigned) throw new InvariantViolation('a permit is not signed yet', { txId: tx.id, owner: unsigned.owner });
  return {
    signer: tx.signer,
    nonce: tx.nonce,
    kind: 'payload',
    txId: tx.id,
    to,
    value,
    data,
    accessList,
    ...(blobHashes && { blobHashes }),
    ...(authorizationList && {
      // The account has used the nonce of the transaction before the authorization is applied.
      authorizationList: authorizationList.map((item): Authorization | SignedAuthorization => {
        if ('signer' in item) return { ...item, nonce: tx.nonce + 1n };
        if ('r' in item) return item;
        // A lane gives a payload no nonce before all other signers have signed.
        throw new InvariantViolation('an authorization is not signed yet', { authority: item.authority });
      }),
    }),
    gasLimit: gasLimitOf(item),
    fees,
    type,
    pricedAtBlock,
  };
}

/** A transaction that only consumes a nonce: 0 wei from the signer to itself. */
export function noOpDraft(
  tx: ManagedTx,
  fees: AttemptFees,
  pricedAtBlock: number,
  type: TxType,
  gasLimit: bigint,
): AttemptDraft {
  const { signer, nonce, id: txId } = tx;
  return {
    signer,
    nonce,
    kind: tx.kind === 'fill' ? 'fill' : 'cancel',
    txId,
    ...noOpPayload(signer.address, type),
    gasLimit,
    fees,
    type,
    pricedAtBlock,
  };
}

import type { Call } from '../../chain/index.js';
import { isAwaited, isOwn, type StoredRequest } from '../../transactions/index.js';

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
      authorizationList: payload.authorizationList.flatMap((item) => (isOwn(item) || isAwaited(item) ? [] : [item])),
    }),
  };
}

import { isOwn } from './authorization.js';
import type { TxPayload } from './tx-request.js';

/**
 * Transactions that a pool does not hold together for one account. `blob`: geth keeps an account for one of its two pools ("address already
 * reserved"). `alone`: it authorizes its own account, and a pool takes that only while nothing else of the account is in flight.
 */
export type PoolKind = 'plain' | 'blob' | 'alone';

export function kindOf({
  blobHashes,
  authorizationList = [],
}: Pick<TxPayload, 'blobHashes' | 'authorizationList'>): PoolKind {
  if (blobHashes) return 'blob';
  return authorizationList.some(isOwn) ? 'alone' : 'plain';
}

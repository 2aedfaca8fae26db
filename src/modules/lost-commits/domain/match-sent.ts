import { groupBy } from '../../../kernel/group-by.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { Authorization, RequestedTx, TxRequest } from '../../transactions/index.js';

/** Sent transactions with one nonce, and the tx whose payload they carry; null when no tx has that payload. */
export interface Match {
  readonly nonce: Nonce;
  readonly tx: RequestedTx | null;
  readonly sent: readonly SentTransaction[];
}

/**
 * Finds the tx of each sent transaction, lowest nonce first. Equal payloads are interchangeable, so the oldest tx gets the lowest nonce.
 * @param holders txs that hold the slot of a nonce: a transaction with that nonce can only belong to the holder
 * @param waiting txs without a nonce, oldest first
 */
export function matchSent(
  sent: readonly SentTransaction[],
  holders: ReadonlyMap<Nonce, RequestedTx>,
  waiting: readonly RequestedTx[],
): Match[] {
  const left = new Set(waiting);
  const byNonce = [...groupBy(sent, ({ nonce }) => nonce)].sort(([a], [b]) => (a < b ? -1 : 1));
  return byNonce.map(([nonce, group]): Match => {
    const holder = holders.get(nonce);
    const candidates = holder ? [holder] : [...left];
    const tx = candidates.find(({ request }) => group.some((each) => carries(each, request))) ?? null;
    if (tx === null) return { nonce, tx, sent: group.slice(0, 1) };
    left.delete(tx);
    return { nonce, tx, sent: group.filter((each) => carries(each, tx.request)) };
  });
}

/** Ignores gas and fees: Lockstep chooses them for each attempt. */
export function carries(sent: SentTransaction, { payload }: Pick<TxRequest, 'payload'>): boolean {
  return (
    sent.to === payload.to &&
    sent.value === payload.value &&
    sent.data === payload.data &&
    JSON.stringify(sent.accessList.map(inOrder)) === JSON.stringify(payload.accessList.map(inOrder)) &&
    JSON.stringify(sent.blobHashes ?? []) === JSON.stringify(payload.blobHashes ?? []) &&
    JSON.stringify((sent.authorizationList ?? []).map(target)) ===
      JSON.stringify((payload.authorizationList ?? []).map(target))
  );
}

/** Its authority is left out: Lockstep signs some authorizations itself. */
function target({ chainId, address }: Pick<Authorization, 'chainId' | 'address'>): unknown {
  return [chainId.toString(), address];
}

function inOrder({ address, storageKeys }: SentTransaction['accessList'][number]): unknown {
  return [address, storageKeys];
}

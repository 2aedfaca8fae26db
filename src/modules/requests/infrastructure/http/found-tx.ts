import { NotFound } from '../../../../kernel/errors.js';

export const TX_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * @param find not called with what cannot be an id
 * @throws NotFound `tx_not_found`
 */
export async function findTx<View>(txId: string, find: (txId: string) => Promise<View | null>): Promise<View> {
  return foundTx(TX_ID.test(txId) ? await find(txId) : null);
}

/** @throws NotFound `tx_not_found` */
export function foundTx<View>(tx: View | null): View {
  if (tx !== null) return tx;
  throw new NotFound('tx_not_found', 'no such transaction', 'check the id, or find the transaction by its requestId');
}

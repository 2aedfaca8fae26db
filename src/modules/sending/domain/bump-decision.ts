import type { Attempt, ManagedTx, TxSubState } from '../../ledger/index.js';

/** What became of a bump that was wanted. */
export type BumpResult =
  | 'bumped'
  /** A pool would accept only a price above the caps. */
  | 'capped'
  /** Gas is free, and the account cannot pay a price above 0. */
  | 'unaffordable'
  /** Most transactions that were mined lately paid less, so it waits for another reason. */
  | 'above_market'
  /** Another price cannot help it now, or there is no other price. */
  | 'not_possible';

/** Reasons to wait that no price changes. A bump would only hide how often nodes have refused the tx. */
const NOT_ABOUT_PRICE: ReadonlySet<TxSubState | null> = new Set<TxSubState | null>([
  'INSUFFICIENT_FUNDS',
  'NODE_REFUSED',
  'POOL_LIMIT',
]);

/**
 * Whether another price could help: the tx is in a pool, or may be; its account can pay; and if its slot is being closed, the no-op that
 * does this exists.
 */
export function isBumpable(tx: ManagedTx, newest: Pick<Attempt, 'kind'>): boolean {
  const { state, subState, replacedBy } = tx.progress;
  if (state !== 'IN_MEMPOOL' || NOT_ABOUT_PRICE.has(subState) || replacedBy !== null || tx.isResting) return false;
  return !tx.isClosing || newest.kind === 'cancel';
}

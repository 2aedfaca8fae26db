import { backoffMs } from '../../../kernel/backoff.js';
import type { ManagedTx, TxSubState } from '../../transactions/index.js';

/** The result of simulating a waiting tx: it may get a nonce, or `apply` changes its state instead. */
export type PendingVerdict =
  /** `cost`: the most wei that it can take from the balance. */
  | { readonly kind: 'ready'; readonly gasLimit: bigint; readonly cost: bigint }
  | { readonly kind: 'not_now'; readonly apply: (tx: ManagedTx) => void }
  /** Waits in the queue, unchanged, behind a tx that the balance does not cover. */
  | { readonly kind: 'parked' };

/** A verdict before the balance is checked. `unfunded`: its node says that the balance is too low. */
export type Simulated = PendingVerdict | { readonly kind: 'unfunded'; readonly error: string };

/** Postpones the tx with a timer, so that the txs behind it are processed meanwhile. */
export function again(subState: TxSubState, firstMs: number, error: string): PendingVerdict {
  return {
    kind: 'not_now',
    apply: (tx) => tx.postponed(subState, backoffMs(firstMs, tx.equalTries(subState)), error),
  };
}

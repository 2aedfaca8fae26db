import type { Attempt, ManagedTx } from '../../transactions/index.js';

/**
 * The attempt whose bytes are sent again: of those that may be out, the one with the highest price. A node that restarted with an empty pool
 * then gets the price that has the best chance, and a pool that has a cheaper one replaces it. A newer attempt that every node refused is
 * proven not to be out, and would be refused again. When none may be out, the newest. In a slot that is being closed, the payload is not
 * sent again.
 * @param attempts of this tx, oldest first
 */
export function attemptToResend(tx: ManagedTx, attempts: readonly Attempt[]): Attempt | undefined {
  const noOps = attempts.filter(({ kind }) => kind === 'cancel');
  const wanted = tx.isClosing && noOps.length > 0 ? noOps : attempts;
  const out = wanted.filter(({ status }) => status !== 'REJECTED');
  return out.length === 0 ? wanted.at(-1) : out.reduce((best, next) => (isCheaper(next, best) ? best : next));
}

function isCheaper({ fees }: Attempt, other: Attempt): boolean {
  if (fees.maxFeePerGas !== other.fees.maxFeePerGas) return fees.maxFeePerGas < other.fees.maxFeePerGas;
  return fees.maxPriorityFeePerGas < other.fees.maxPriorityFeePerGas;
}

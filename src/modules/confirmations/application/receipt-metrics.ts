/** Counters of receipts and of reorgs, for `/metrics`. */
export abstract class ReceiptMetrics {
  abstract checked(result: 'found' | 'none' | 'error', count: number): void;
  /** Transactions whose block was orphaned. */
  abstract newFork(count: number): void;
}

/** Counters of design section 15. */
export abstract class ReceiptMetrics {
  abstract checked(result: 'found' | 'none' | 'error', count: number): void;
  /** Transactions whose block is no longer on the chain. */
  abstract newFork(count: number): void;
}

/** Counters of design section 15. */
export abstract class ReceiptMetrics {
  abstract checked(result: 'found' | 'none' | 'error', count: number): void;
}

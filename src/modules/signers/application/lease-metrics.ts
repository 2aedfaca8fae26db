/** Counters of leases and of fenced writes, for `/metrics`. */
export abstract class LeaseMetrics {
  abstract acquired(result: 'acquired' | 'busy' | 'error', count: number): void;
  abstract renewed(result: 'renewed' | 'lost' | 'error', count: number): void;
  abstract fenced(operation: string, count: number): void;
  abstract held(count: number): void;
  /** A fenced transaction, from BEGIN to the end of COMMIT; seconds. */
  abstract committed(operation: string, seconds: number): void;
}

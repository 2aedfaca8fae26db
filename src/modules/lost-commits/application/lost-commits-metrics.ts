/** Counters of what the database lost. */
export abstract class LostCommitsMetrics {
  /** @param evidence why commits are believed to be lost */
  abstract lost(evidence: string): void;
  /** Transactions that were out and unknown: of payloads that wait, or of nobody. */
  abstract adopted(kind: 'payload' | 'foreign', count: number): void;
  /** Signers for which nothing is sent now. */
  abstract held(count: number): void;
}

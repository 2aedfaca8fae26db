/** Counters of lost commits, for `/metrics`. */
export abstract class LostCommitsMetrics {
  /** @param evidence the evidence that commits may be lost */
  abstract lost(evidence: string): void;
  /** Sent transactions that were unknown: with the payload of a waiting tx, or with none of ours. */
  abstract adopted(kind: 'payload' | 'foreign', count: number): void;
  /** Signers that send nothing now. */
  abstract held(count: number): void;
}

/** Metrics of deleted rows. */
export abstract class RetentionMetrics {
  abstract deleted(table: string, count: number): void;
  /** @param at null when there is no event */
  abstract oldestEvent(at: Date | null): void;
}

/**
 * How often to begin anew. What had to stay may go by then. Until the next vacuum, each beginning reads the index entries of all deleted
 * rows again, so it is not done every minute.
 */
const BEGIN_EVERY_MS = 3_600_000;

/** Where the next batch of a table begins. */
export class Sweep {
  private place: string;
  private begunAtMs = -Infinity;
  private isAtEnd = true;

  constructor(private readonly beginning: string) {
    this.place = beginning;
  }

  next(nowMs: number): string {
    if (this.isAtEnd && nowMs - this.begunAtMs >= BEGIN_EVERY_MS) {
      this.place = this.beginning;
      this.begunAtMs = nowMs;
    }
    return this.place;
  }

  passed(place: string, hasMore: boolean): void {
    this.place = place;
    this.isAtEnd = !hasMore;
  }
}

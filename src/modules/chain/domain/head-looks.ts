/** So many heights back a block is recorded in time to learn from it. */
const KEPT = 64;

interface Look {
  /** The highest block that was known after it. */
  readonly head: number;
  /** When the last one that showed no higher block was begun. */
  atMs: number;
}

/** When a chain was asked for its head, and what it was: a block cannot be older than the last look that did not show it. */
export class HeadLooks {
  private looks: Look[] = [];

  /**
   * @param head the highest block that this look, or one before it, showed on the same branch: an endpoint that lags tells nothing new
   * @param atMs when it was begun, in monotonic milliseconds
   */
  add(head: number, atMs: number): void {
    this.looks = this.looks.filter((look) => look.head <= head).slice(-KEPT);
    const last = this.looks.at(-1);
    if (last?.head === head) last.atMs = atMs;
    else this.looks.push({ head, atMs });
  }

  /** When the last look was begun that did not show a block of this height, in monotonic milliseconds; null when there is none. */
  lastWithout(height: number): number | null {
    return this.looks.findLast(({ head }) => head < height)?.atMs ?? null;
  }
}

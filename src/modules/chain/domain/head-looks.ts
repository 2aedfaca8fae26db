/** So many heights back a block is recorded in time to learn from it, and so far below the last head an endpoint lags, or a reorg goes. */
const KEPT = 64;

interface Look {
  /** The highest block that it showed. */
  readonly head: number;
  /** When the last one with this head was begun. */
  atMs: number;
}

/** When a chain was asked for its head, and what it was: a block is not older than the last look that did not show it, unless an endpoint lags. */
export class HeadLooks {
  private looks: Look[] = [];

  /** @param atMs when the head was asked for, in monotonic milliseconds */
  add(head: number, atMs: number): void {
    const last = this.looks.at(-1);
    if (last?.head === head) last.atMs = atMs;
    // Another chain, or a head that no chain had.
    else if (last === undefined || head < last.head - KEPT) this.looks = [{ head, atMs }];
    else if (head > last.head) this.looks = [...this.looks.slice(1 - KEPT), { head, atMs }];
  }

  /** When the last look was begun that did not show a block of this height, in monotonic milliseconds; null when there is none. */
  lastWithout(height: number): number | null {
    return this.looks.findLast(({ head }) => head < height)?.atMs ?? null;
  }
}

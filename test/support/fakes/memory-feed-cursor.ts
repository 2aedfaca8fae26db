import { comparePositions, type EventPosition } from '../../../src/modules/events/index.js';
import { FeedCursor, type FeedLag } from '../../../src/modules/broker/domain/feed-cursor.js';

/** The cursor in memory, without time: a claim ends when a test says so. */
export class MemoryFeedCursor extends FeedCursor {
  place: EventPosition | null = null;
  claimedBy: string | null = null;
  readonly moves: bigint[] = [];
  /** Runs before a move is stored: to take the claim away, to fail. */
  onMove: () => void = () => undefined;

  async begin(place: EventPosition): Promise<void> {
    this.place ??= place;
  }

  async hasBegun(): Promise<boolean> {
    return this.place !== null;
  }

  async claim(nodeId: string): Promise<EventPosition | null> {
    if (this.place === null || (this.claimedBy !== null && this.claimedBy !== nodeId)) return null;
    this.claimedBy = nodeId;
    return this.place;
  }

  async move(nodeId: string, from: EventPosition, to: EventPosition): Promise<boolean> {
    this.onMove();
    if (this.claimedBy !== nodeId || this.place === null || comparePositions(this.place, from) !== 0) return false;
    this.place = to;
    this.moves.push(to.seq);
    return true;
  }

  async release(nodeId: string): Promise<void> {
    if (this.claimedBy === nodeId) this.claimedBy = null;
  }

  async lag(): Promise<FeedLag> {
    return { rows: 3, seconds: 1.5 };
  }
}

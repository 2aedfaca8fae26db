import type { EventPosition } from '../../events/index.js';

/** What the broker does not have yet. */
export interface FeedLag {
  /** Rows of the event log, about: those that are no public event count, too. */
  readonly rows: number;
  /** Age of the oldest of them; 0 when there is none. */
  readonly seconds: number;
}

/** Up to where the broker has the event log, and which node publishes now. There is one for all nodes, and it outlives them. */
export abstract class FeedCursor {
  /** Stores where to begin; does nothing when it is known already. */
  abstract begin(place: EventPosition): Promise<void>;
  /** @returns whether {@link begin} was ever done */
  abstract hasBegun(): Promise<boolean>;
  /**
   * Takes the claim for so long, or renews it, when no other node has it.
   * @returns up to where the broker has the log; null when another node has the claim
   */
  abstract claim(nodeId: string, durationMs: number): Promise<EventPosition | null>;
  /**
   * Moves forward to where all rows behind `from` are published.
   * @returns false when the node has the claim no longer, or the place is not `from`; nothing is changed then
   */
  abstract move(nodeId: string, from: EventPosition, to: EventPosition): Promise<boolean>;
  /** Lets another node take the claim at once. */
  abstract release(nodeId: string): Promise<void>;
  abstract lag(): Promise<FeedLag>;
}

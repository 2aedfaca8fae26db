import type { ClaimedDelivery, DeliveryKey, DeliveryStatus, EndpointAt, TryResult } from './delivery.js';

export interface Claim {
  readonly nodeId: string;
  /** Until when only this node may send what it claims. Milliseconds from now. */
  readonly forMs: number;
  /** At most so many, of all endpoints together. */
  readonly most: number;
  /** @param sharers how many endpoints of its host ask for a share now, itself included */
  readonly shareOf: (endpoint: EndpointAt, sharers: number) => Share;
}

/** How many deliveries of one endpoint may be claimed now. */
export interface Share {
  readonly most: number;
  /** No more than `most`. */
  readonly mostIfFailing: number;
}

export interface Recorded extends DeliveryKey {
  readonly status: DeliveryStatus;
}

/** The deliveries that wait, in order per tx, for any node that acts. */
export abstract class DeliveryQueue {
  /** Some of what is due now, of all endpoints in turn. No other node gets them until the claim ends. */
  abstract claim(claim: Claim): Promise<readonly ClaimedDelivery[]>;
  /**
   * Stores results of deliveries that this node has claimed. A failed one is `dead` when its time for retries is over; while it waits, later
   * ones of its tx are not due. What another URL than that of now answered decides only about a success: all else is due again at once.
   * @returns those that were stored; the claim of the others had ended
   */
  abstract record(nodeId: string, results: readonly TryResult[]): Promise<readonly Recorded[]>;
  /** Gives up some deliveries that wait for disabled endpoints. @returns how many */
  abstract bury(limit: number): Promise<number>;
  /**
   * Deletes some that ended longer ago than they are kept, and of deleted endpoints.
   * @returns how many; 0 also when another node is at it
   */
  abstract prune(keepDeliveredMs: number, keepDeadMs: number, limit: number): Promise<number>;
  /** What waits, by endpoint. */
  abstract backlog(): Promise<readonly Backlog[]>;
}

export interface Backlog {
  readonly endpointId: string;
  /** Counted up to 100,000 divided by the number of endpoints, or 1,000. */
  readonly waiting: number;
  /** The age of the oldest event. */
  readonly ageSeconds: number;
  readonly isFailing: boolean;
}

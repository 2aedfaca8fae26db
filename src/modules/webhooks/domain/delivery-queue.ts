import type { ClaimedDelivery, DeliveryKey, DeliveryStatus, TryResult } from './delivery.js';

export interface Claim {
  readonly nodeId: string;
  /** Until when only this node may send what it claims. Milliseconds from now. */
  readonly forMs: number;
  /** Places of an endpoint, and of one that fails. */
  readonly places: number;
  readonly placesOfFailing: number;
  /** Places that are taken, by endpoint. */
  readonly taken: ReadonlyMap<string, number>;
}

export interface Recorded extends DeliveryKey {
  readonly status: DeliveryStatus;
}

/** The deliveries that wait, in order per tx, for any node that acts. */
export abstract class DeliveryQueue {
  /** What is due now, of each endpoint as many as it has free places. No other node gets them until the claim ends. */
  abstract claim(claim: Claim): Promise<readonly ClaimedDelivery[]>;
  /**
   * Stores results of deliveries that this node has claimed. A failed one is `dead` when its time for retries is over; while it waits, later
   * ones of its tx are not due.
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
  /** Counted up to 100,000. */
  readonly waiting: number;
  /** Of the oldest event. */
  readonly ageSeconds: number;
  readonly isFailing: boolean;
}

import type { EventPosition } from '../../events/index.js';

export const DELIVERY_STATUSES = ['waiting', 'delivered', 'dead'] as const;
/** `dead`: given up; only a replay sends it again. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Names a delivery: an event, and the endpoint that gets it. */
export interface DeliveryKey {
  readonly endpointId: string;
  readonly position: EventPosition;
}

/** An endpoint, and the host and port that it shares with others. */
export interface EndpointAt {
  readonly id: string;
  readonly url: string;
  readonly host: string;
}

/** What this node may send until its claim ends. */
export interface ClaimedDelivery extends DeliveryKey {
  readonly url: string;
  /** The host of the URL, with its port. */
  readonly host: string;
  readonly body: string;
  /** Those that are valid now, the newest first. */
  readonly secrets: readonly string[];
  /** Before this try. */
  readonly tries: number;
  /** The endpoint had no success since its last failure. */
  readonly isFailing: boolean;
}

/** `gone`: the receiver wants nothing any more. */
export type Outcome = 'delivered' | 'failed' | 'gone';

/** What became of one try. */
export interface TryResult extends DeliveryKey {
  /** Where it was posted to. */
  readonly url: string;
  readonly outcome: Outcome;
  /** Milliseconds until the next try, when it failed. */
  readonly waitMs: number;
  readonly answerStatus: number | null;
  readonly answerBody: string;
  readonly error: string | null;
}

/** A delivery as the API shows it. */
export interface DeliveryView {
  readonly eventId: string;
  readonly type: string;
  readonly txId: string | null;
  readonly status: DeliveryStatus;
  readonly tries: number;
  /** When it is sent next; null when it is not waiting. */
  readonly dueAt: Date | null;
  /** The status of the last try; null when no answer came. */
  readonly answerStatus: number | null;
  /** The first kilobyte. */
  readonly answerBody: string | null;
  readonly error: string | null;
  readonly triedAt: Date | null;
  readonly eventAt: Date;
}

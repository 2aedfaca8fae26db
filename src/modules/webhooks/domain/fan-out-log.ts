import type { Tx } from '../../../kernel/unit-of-work.js';
import type { EventPosition, PublicEvent } from '../../events/index.js';
import type { Subscriber } from './webhook-endpoint.js';

/** An event and an endpoint that gets it. */
export interface Match {
  readonly event: PublicEvent;
  readonly endpointId: string;
}

/** How far the event log has become deliveries. */
export abstract class FanOutLog {
  /** Null when nobody subscribes: then all events of now count as delivered. */
  abstract place(): Promise<EventPosition | null>;
  /** Locks the place until the end of the database transaction. @returns false when another node has it, or has moved it */
  abstract lock(tx: Tx, place: EventPosition): Promise<boolean>;
  abstract moveTo(tx: Tx, place: EventPosition): Promise<void>;
  /** All enabled endpoints. */
  abstract subscribers(): Promise<readonly Subscriber[]>;
  /** Each once, however often it is asked for. Not before the deliveries of the same tx that wait already. */
  abstract insert(tx: Tx, matches: readonly Match[]): Promise<void>;
}

import type { Actor } from '../../../kernel/audit-log.js';
import type { EventPosition } from '../../events/index.js';
import type { DeliveryStatus, DeliveryView } from './delivery.js';
import type { Match } from './fan-out-log.js';

/** What became of the deliveries of an endpoint, and how they are sent again. A replay has the id and the body of the first time, and is recorded in the audit log. */
export abstract class DeliveryLog {
  /** Newest first, before a place. */
  abstract list(
    endpointId: string,
    status: DeliveryStatus | null,
    before: EventPosition | null,
    limit: number,
  ): Promise<DeliveryView[]>;
  abstract find(endpointId: string, position: EventPosition): Promise<DeliveryWithBody | null>;
  /** Makes it due now, and what waits behind it. @returns false when there is none */
  abstract replay(endpointId: string, position: EventPosition, by: Actor): Promise<boolean>;
  /** The oldest first. @returns how many */
  abstract replayDead(endpointId: string, limit: number, by: Actor): Promise<number>;
  /** Sends these again, also those that were never delivered; what waits stays as it is. @returns how many */
  abstract insertOrRepeat(matches: readonly Match[]): Promise<number>;
}

export interface DeliveryWithBody extends DeliveryView {
  readonly body: string;
}

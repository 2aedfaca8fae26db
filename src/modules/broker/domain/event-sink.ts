import { Unavailable } from '../../../kernel/errors.js';
import type { PublicEvent } from '../../events/index.js';

/** A message broker. */
export abstract class EventSink {
  /**
   * Resolves when the broker has stored all of them, those of a subject in their order. An event that is published again is the same message:
   * a broker that still knows its id does not store it twice.
   * @throws PublishFailed which says how many it has stored
   */
  abstract publish(events: readonly PublicEvent[]): Promise<void>;
  abstract close(): Promise<void>;
}

export type PublishFailureCode = 'broker_unreachable' | 'broker_refused';

/** The broker does not take an event. The next try may succeed, after a person changed something when it is `broker_refused`. */
export class PublishFailed extends Unavailable {
  declare readonly code: PublishFailureCode;

  constructor(
    code: PublishFailureCode,
    message: string,
    advice: string,
    /** So many events, the first ones, are stored. */
    readonly stored = 0,
    options?: ErrorOptions,
  ) {
    super(code, message, advice, {}, options);
  }
}

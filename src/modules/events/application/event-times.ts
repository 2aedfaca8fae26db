import type { EventPosition } from '../domain/event-position.js';

/** Finds places in the event log by time. */
export abstract class EventTimes {
  /** A place before every event from this time on, except those whose commits took longer than others. Not far before the first of them. */
  abstract before(time: Date): Promise<EventPosition>;
}

import { eventId, type EventPosition } from '../../domain/event-position.js';
import type { PublicEvent } from '../../domain/public-event.js';
import { bodyOf } from '../../domain/publish.js';

/** A client that lost its stream tries again after this. A node that shuts down is out of the load balancer by then. */
const RETRY_MS = 2_000;

/** Many streams send the same event. */
const frames = new WeakMap<PublicEvent, string>();

export function frameOf(event: PublicEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  // JSON has no line breaks, so one `data` line is enough.
  const frame = `id: ${eventId(event.position)}\nevent: ${event.type}\ndata: ${JSON.stringify(bodyOf(event))}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** The first thing on a stream. */
export function openingFrame(place: EventPosition): string {
  return `retry: ${RETRY_MS}\n${placeFrame(place)}`;
}

/**
 * Tells the client its place in the log. By the HTML standard an `id` without `data` sets what the client sends as `Last-Event-ID`, and
 * dispatches no event.
 */
export function placeFrame(place: EventPosition): string {
  return `: place in the log\nid: ${eventId(place)}\n\n`;
}

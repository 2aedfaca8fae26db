import { NotFound } from '../../../../kernel/errors.js';
import { invalidCursor } from '../../../../platform/http/page-cursor.js';
import { type EventPosition, parseEventId } from '../../../events/index.js';
import { unknownWebhook } from '../../application/unknown-webhook.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The id of an endpoint in a path.
 * @throws NotFound `webhook_not_found` for what cannot be an id
 */
export function endpointIdOf(text: string): string {
  if (!UUID.test(text)) throw unknownWebhook(text.slice(0, 80));
  return text.toLowerCase();
}

/**
 * The id of the last endpoint of a page.
 * @throws InvalidInput `invalid_cursor`
 */
export function endpointCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  if (!UUID.test(cursor)) throw invalidCursor();
  return cursor;
}

/**
 * The id of the last event of a page.
 * @throws InvalidInput `invalid_cursor`
 */
export function cursorPosition(cursor: string | undefined): EventPosition | null {
  if (cursor === undefined) return null;
  const position = parseEventId(cursor);
  if (position === null) throw invalidCursor();
  return position;
}

/**
 * The id of an event in a path.
 * @throws NotFound `delivery_not_found` for what cannot be an id
 */
export function eventPositionOf(text: string): EventPosition {
  const position = parseEventId(text);
  if (position === null) throw unknownDelivery(text);
  return position;
}

export function unknownDelivery(eventId: string): NotFound {
  return new NotFound(
    'delivery_not_found',
    `the endpoint has no delivery of event ${eventId.slice(0, 80)}`,
    'GET …/deliveries lists them; deliveries that ended are deleted after 7 days, or 30 when dead',
  );
}

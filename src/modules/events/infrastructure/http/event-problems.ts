import { InvalidInput } from '../../../../kernel/errors.js';
import type { Problem } from '../../../../platform/http/problem-details.js';
import { type EventPosition, parseEventId } from '../../domain/event-position.js';

/** @throws InvalidInput `invalid_event_id` */
export function positionOf(id: string): EventPosition {
  const position = parseEventId(id);
  if (position !== null) return position;
  const { code, detail, advice } = INVALID_EVENT_ID;
  throw new InvalidInput(code, detail, advice);
}

export const INVALID_EVENT_ID: Problem = {
  status: 400,
  code: 'invalid_event_id',
  detail: 'not the id of an event',
  advice: 'send the id of an event or a nextCursor, unchanged; 0-0-0 is before the oldest event',
};
export const INVALID: Problem = {
  status: 400,
  code: 'invalid_request',
  detail: 'types must be a list of event types, separated by commas',
  advice: 'correct the fields listed in errors; /docs shows every field with an example',
};
export const UNAVAILABLE: Problem = {
  status: 503,
  code: 'database_unavailable',
  detail: 'the database did not answer in time',
  advice: 'try again',
  retryable: true,
};
export const TOO_MANY_STREAMS: Problem = {
  status: 503,
  code: 'too_many_streams',
  detail: '1000 streams are open at this node',
  advice: 'try again later, use another node, or read pages with after',
  retryable: true,
  facts: { maxStreams: 1000 },
};

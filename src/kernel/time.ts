import { InvalidInput } from './errors.js';

/** A date alone is midnight in UTC. Without a zone, a time would be another one on each machine. */
const TIME = /^([1-9]\d{3}-\d\d-(\d\d))(T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

/**
 * A date-time of RFC 3339 with its zone, or a date.
 * @throws InvalidInput `invalid_time`
 */
export function parseTime(text: string): Date {
  const [, date = '', day] = TIME.exec(text) ?? [];
  // `Date` takes the 30th of February for the 2nd of March.
  if (new Date(date).getUTCDate() === Number(day)) return new Date(text);
  throw new InvalidInput(
    'invalid_time',
    'not a time with its zone, as RFC 3339 has them',
    'send a time such as "2030-01-01T00:00:00.000Z"',
  );
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logs: a constant message to search for, and fields. */
export abstract class Log {
  abstract debug(event: string, fields?: LogFields): void;
  abstract info(event: string, fields?: LogFields): void;
  abstract warn(event: string, fields?: LogFields): void;
  abstract error(event: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  abstract child(fields: LogFields): Log;
}

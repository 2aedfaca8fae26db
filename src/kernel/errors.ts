/** What a broken rule means for the caller; adapters map it to their own language (HTTP status, exit code). */
export type ErrorKind =
  'invalid' | 'not_found' | 'conflict' | 'unprocessable' | 'too_many' | 'unavailable' | 'internal';

/**
 * A broken rule with a stable, public `code`. `message` says what is wrong, `advice` what to do about it.
 * Expected outcomes are unions, not errors.
 */
export abstract class DomainError extends Error {
  abstract readonly kind: ErrorKind;
  readonly retryable: boolean = false;
  /** Seconds until it makes sense to try again; null when there is no saying. */
  readonly retryAfterSeconds: number | null = null;

  constructor(
    readonly code: string,
    message: string,
    readonly advice: string,
    /** Public facts about the case (never secrets): ids, states, limits. */
    readonly facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class InvalidInput extends DomainError {
  readonly kind = 'invalid';
}

export class NotFound extends DomainError {
  readonly kind = 'not_found';
}

export class Conflict extends DomainError {
  readonly kind = 'conflict';
}

/** Well-formed, but cannot be done: the request is understood and refused. */
export class Unprocessable extends DomainError {
  readonly kind = 'unprocessable';
}

/** Too much is asked for at once; nothing is wrong with the request itself. */
export class TooMany extends DomainError {
  readonly kind = 'too_many';
  override readonly retryable = true;
  override readonly retryAfterSeconds = 1;
}

/** Try again: nothing is wrong with the request. */
export class Unavailable extends DomainError {
  readonly kind = 'unavailable';
  override readonly retryable = true;
}

/** A rule of our own code is broken. Never the caller's fault, always a bug. */
export class InvariantViolation extends DomainError {
  readonly kind = 'internal';

  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(
      'internal_error',
      message,
      'report this: an internal rule of Lockstep was about to be broken, and nothing was written',
      facts,
    );
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

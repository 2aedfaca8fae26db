/** The kind of a domain error; adapters map it to an HTTP status or an exit code. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'unprocessable'
  | 'too_many'
  | 'unavailable'
  | 'internal';

/**
 * A broken rule with a stable, public `code`. `message` is the problem, `advice` is the remedy. Expected outcomes are unions, not errors.
 */
export abstract class DomainError extends Error {
  abstract readonly kind: ErrorKind;
  readonly retryable: boolean = false;
  /** Seconds after which to try again; null when that is not known. */
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

/** It is not known who sent the request. */
export class Unauthenticated extends DomainError {
  readonly kind = 'unauthenticated';
}

/** It is known who sent the request, and they may not do this. */
export class Forbidden extends DomainError {
  readonly kind = 'forbidden';
}

export class NotFound extends DomainError {
  readonly kind = 'not_found';
}

export class Conflict extends DomainError {
  readonly kind = 'conflict';
}

/** A well-formed request that cannot be executed. */
export class Unprocessable extends DomainError {
  readonly kind = 'unprocessable';
}

/** Too many requests at once; the request itself is correct. */
export class TooMany extends DomainError {
  readonly kind = 'too_many';
  override readonly retryable = true;
  override readonly retryAfterSeconds: number = 1;
}

/** A temporary failure: the request is correct and may succeed later. */
export class Unavailable extends DomainError {
  readonly kind = 'unavailable';
  override readonly retryable = true;
}

/** A broken rule inside Lockstep: always a bug, never the caller's fault. */
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

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

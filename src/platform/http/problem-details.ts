import type { ErrorKind } from '../../kernel/errors.js';

/** One mistake in a request: its path, a message, and a code for programs. */
export interface Violation {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** RFC 9457, with Lockstep's extension members. */
export interface ProblemDetails {
  /** `urn:lockstep:problem:<code>` */
  readonly type: string;
  /** The same for every problem of this code. */
  readonly title: string;
  readonly status: number;
  readonly code: string;
  /** What is wrong in this case. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The path of the request. */
  readonly instance: string;
  /** Only for invalid requests: all mistakes. */
  readonly errors?: readonly Violation[];
  /** Public facts about the case: ids, states, limits. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** The fields that differ between problems; the other fields follow from them. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly advice: string;
  readonly retryable?: boolean;
  readonly errors?: readonly Violation[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

export const STATUS_OF_KIND = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  unprocessable: 422,
  too_many: 429,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<ErrorKind, number>;

export function problemDetails(problem: Problem, url: string): ProblemDetails {
  const { status, code, detail, advice, retryable = false, errors, facts } = problem;
  return {
    type: `urn:lockstep:problem:${code}`,
    title: titleOf(code),
    status,
    code,
    detail,
    advice,
    retryable,
    // Without the query string, which may be long or private.
    instance: (url.split('?', 1)[0] ?? '').slice(0, 200),
    ...(errors === undefined ? {} : { errors }),
    ...(facts === undefined || Object.keys(facts).length === 0 ? {} : { facts: withoutBigints(facts) }),
  };
}

export function problemJson(problem: Problem, url: string): string {
  return JSON.stringify(problemDetails(problem, url));
}

/** JSON has no bigint; amounts and nonces are written as decimal strings. */
function withoutBigints(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  return JSON.parse(text) as Record<string, unknown>;
}

/** `idempotency_conflict` is titled "Idempotency conflict". */
function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

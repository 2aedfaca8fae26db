import type { ErrorKind } from '../../kernel/errors.js';

/** One thing wrong with a request: where, what, and a code for programs. */
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
  /** What is wrong, this time. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The path that was asked for. */
  readonly instance: string;
  /** Only with invalid requests: everything that is wrong, at once. */
  readonly errors?: readonly Violation[];
  /** Public facts about the case: ids, states, limits. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** What differs from problem to problem; the rest follows from it. */
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
    // Without the query: it is the caller's own data, and may be long.
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

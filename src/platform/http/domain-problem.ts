import type { DomainError } from '../../kernel/errors.js';
import { INTERNAL_PROBLEM } from './http-error-problem.js';
import { InvalidRequest } from './invalid-request.js';
import { type Problem, STATUS_OF_KIND } from './problem-details.js';

/** A domain error in HTTP terms. An internal error shows only its code. */
export function domainProblem(error: DomainError): Problem {
  const { code, advice, retryable, facts, message } = error;
  if (error.kind === 'internal') return { ...INTERNAL_PROBLEM, code };
  return {
    status: STATUS_OF_KIND[error.kind],
    code,
    detail: message,
    advice,
    retryable,
    facts,
    ...(error instanceof InvalidRequest ? { errors: error.errors } : {}),
  };
}

import type { FastifyRequest } from 'fastify';
import type { DomainError } from '../../kernel/errors.js';
import type { Log } from '../logging/log.js';
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

/** Logs errors that are not the client's fault in full, with the x-request-id of the answer. */
export function reportFault(log: Log, error: unknown, problem: Problem, request: FastifyRequest): void {
  const fields = { httpRequestId: request.id, method: request.method, route: request.routeOptions.url, error };
  // Temporary unavailability is expected; every other error of status 500 is a bug.
  if (problem.retryable === true) log.warn('http.unavailable', { code: problem.code, ...fields });
  else log.error('http.internal_error', fields);
}

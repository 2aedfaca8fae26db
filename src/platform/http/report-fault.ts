import type { FastifyRequest } from 'fastify';
import type { Log } from '../logging/log.js';
import type { Problem } from './problem-details.js';

/** Logs errors that are not the client's fault in full, with the x-request-id of the answer. */
export function reportFault(log: Log, error: unknown, problem: Problem, request: FastifyRequest): void {
  const fields = { httpRequestId: request.id, method: request.method, route: request.routeOptions.url, error };
  // Temporary unavailability is expected; every other error of status 500 is a bug.
  if (problem.retryable === true) log.warn('http.unavailable', { code: problem.code, ...fields });
  else log.error('http.internal_error', fields);
}

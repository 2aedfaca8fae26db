import type { FastifyRequest } from 'fastify';
import type { Log } from '../logging/log.js';
import type { Problem } from './problem-details.js';

/** What is not the client's fault is logged whole, under the id that the answer has as its x-request-id. */
export function reportFault(log: Log, error: unknown, problem: Problem, request: FastifyRequest): void {
  const fields = { httpRequestId: request.id, method: request.method, route: request.routeOptions.url, error };
  // Being unavailable is expected now and then; anything else at 500 is a bug.
  if (problem.retryable === true) log.warn('http.unavailable', { code: problem.code, ...fields });
  else log.error('http.internal_error', fields);
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PROBLEM_CONTENT_TYPE, type Problem, problemJson } from './problem-details.js';

export const REQUEST_ID_HEADER = 'x-request-id';
/** Seconds, where nobody knows it better. */
const UNAVAILABLE_FOR = 1;

/** Without Fastify's reply. */
export function answerRaw(problem: Problem, request: IncomingMessage, response: ServerResponse): void {
  const body = problemJson(problem, request.url ?? '');
  const retryAfter = retryAfterOf(problem);
  response.writeHead(problem.status, {
    'content-type': PROBLEM_CONTENT_TYPE,
    'content-length': Buffer.byteLength(body),
    [REQUEST_ID_HEADER]: requestIdOf(request),
    ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }),
  });
  response.end(body);
}

/** Seconds of a problem that does not say itself when to come back. */
export function retryAfterOf({ status }: Problem): number | null {
  return status === 503 ? UNAVAILABLE_FOR : null;
}

/** Keeps the caller's id when it is safe to log, so that one id follows a request through several systems. */
export function requestIdOf({ headers: { [REQUEST_ID_HEADER]: given } }: Pick<IncomingMessage, 'headers'>): string {
  return typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
}

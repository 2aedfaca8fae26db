import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { Problem } from './problem-details.js';

export const INTERNAL_PROBLEM: Problem = {
  status: 500,
  code: 'internal_error',
  detail: 'something went wrong inside Lockstep; it is in the log under this response’s x-request-id',
  advice: 'a create may have been stored: look it up by its requestId, or send it again with the same one',
};

/** What of a Fastify request it takes to name a problem. */
export interface FailedRequest {
  readonly method: string;
  readonly is404: boolean;
  readonly routeOptions: { readonly bodyLimit: number };
}

/** Errors of Nest and Fastify in Lockstep's words. Null when it is not one of theirs, or a fault of ours. */
export function httpErrorProblem(error: unknown, request: FailedRequest): Problem | null {
  const code = fastifyCodeOf(error);
  const known = code === null ? undefined : FASTIFY_PROBLEMS[code];
  if (known !== undefined) return known(request);
  const status = statusOf(error);
  if (status === null || status === 500) return null;
  if (status === 404 && request.is404) return routeNotFound(request);
  return genericProblem(status, error);
}

export function methodNotAllowed(request: FailedRequest, allowed: readonly string[]): Problem {
  return {
    status: 405,
    code: 'method_not_allowed',
    detail: `this path does not take ${request.method}`,
    advice: `use ${allowed.join(' or ')}`,
    facts: { allowed },
  };
}

function routeNotFound(request: FailedRequest): Problem {
  return {
    status: 404,
    code: 'route_not_found',
    detail: `there is nothing at ${request.method} of this path`,
    advice: 'see /docs for all paths',
  };
}

const malformedJson = (detail: string): Problem => ({
  status: 400,
  code: 'malformed_json',
  detail,
  advice: 'send one JSON object, encoded as UTF-8',
});

const FASTIFY_PROBLEMS: Readonly<Record<string, (request: FailedRequest) => Problem>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: () => malformedJson('the body is not valid JSON'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => malformedJson('the body is empty, but its content type is application/json'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => malformedJson('the body is not as long as its Content-Length says'),
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => {
    const limitBytes = request.routeOptions.bodyLimit;
    return {
      status: 413,
      code: 'body_too_large',
      detail: `the body is larger than ${limitBytes} bytes`,
      advice: 'send less at once, or raise server.bodyLimit',
      facts: { limitBytes },
    };
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => ({
    status: 415,
    code: 'unsupported_media_type',
    detail: 'the body has a content type that Lockstep does not read',
    advice: 'send JSON with the header Content-Type: application/json',
  }),
  FST_ERR_BAD_URL: () => ({
    status: 400,
    code: 'malformed_url',
    detail: 'the path has a % that is not followed by two hex digits',
    advice: 'percent-encode the path',
  }),
  FST_ERR_MAX_PARAM_LENGTH: () => ({
    status: 414,
    code: 'url_too_long',
    detail: 'a part of the path is longer than any id can be',
    advice: 'check the id in the path',
  }),
};

/** Fastify's error, bare or as the cause of the HttpException that Nest makes of it. */
function fastifyCodeOf(error: unknown): string | null {
  const inner = error instanceof HttpException ? error.cause : error;
  if (!(inner instanceof Error) || !('code' in inner) || typeof inner.code !== 'string') return null;
  return inner.code.startsWith('FST_') ? inner.code : null;
}

function statusOf(error: unknown): number | null {
  if (error instanceof HttpException) return error.getStatus();
  // A number that calls itself a status is only believed below 500: faults are ours, and go to the log.
  if (!(error instanceof Error) || !('statusCode' in error) || typeof error.statusCode !== 'number') return null;
  return Number.isInteger(error.statusCode) && error.statusCode >= 400 && error.statusCode < 500
    ? error.statusCode
    : null;
}

function genericProblem(status: number, error: unknown): Problem {
  const title = STATUS_CODES[status] ?? 'Error';
  const response = error instanceof HttpException ? error.getResponse() : undefined;
  const facts = factsOf(response);
  return {
    status,
    code: title.toLowerCase().replaceAll(/[^a-z]+/g, '_'),
    detail: status < 500 && error instanceof Error ? error.message.slice(0, 300) : title.toLowerCase(),
    advice: status === 503 || status === 429 ? 'try again in a moment' : 'see /docs for what this path takes',
    retryable: status === 503 || status === 429,
    ...(facts === undefined ? {} : { facts }),
  };
}

/** A body somebody made on purpose (the health check's report) is passed on; Nest's own envelope says nothing new. */
function factsOf(response: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof response !== 'object' || response === null || 'statusCode' in response) return undefined;
  return { ...response };
}

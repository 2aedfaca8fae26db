import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { Problem } from './problem-details.js';

export const INTERNAL_PROBLEM: Problem = {
  status: 500,
  code: 'internal_error',
  detail: 'internal error of Lockstep; the log has it under the x-request-id of this response',
  advice:
    'a submitted transaction may be stored: look it up by its requestId, or submit it again with the same requestId',
};

/** The parts of a Fastify request that a problem needs. */
export interface FailedRequest {
  readonly method: string;
  readonly is404: boolean;
  readonly routeOptions: { readonly bodyLimit: number };
}

/** Turns errors of Nest and Fastify into problems. Null for other errors, and for errors of status 500 or above. */
export function httpErrorProblem(error: unknown, request: FailedRequest): Problem | null {
  const code = fastifyCodeOf(error);
  const known = code === null ? undefined : FASTIFY_PROBLEMS[code];
  if (known !== undefined) return known(request);
  const status = statusOf(error);
  if (status === null || status === 500) return null;
  if (request.is404) return routeNotFound(request);
  return genericProblem(status, error);
}

export function methodNotAllowed(request: FailedRequest, allowed: readonly string[]): Problem {
  return {
    status: 405,
    code: 'method_not_allowed',
    detail: `this path does not accept ${request.method}`,
    advice: `use ${allowed.join(' or ')}`,
    facts: { allowed },
  };
}

function routeNotFound(request: FailedRequest): Problem {
  return {
    status: 404,
    code: 'route_not_found',
    detail: `this path does not exist for ${request.method}`,
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
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => malformedJson('the length of the body is not its Content-Length'),
  FST_ERR_CTP_INVALID_JSON_BODY: () =>
    malformedJson('the body is not valid JSON, or has a key __proto__ or constructor.prototype'),
  FST_ERR_CTP_BODY_TOO_LARGE: (request) => {
    const limitBytes = request.routeOptions.bodyLimit;
    return {
      status: 413,
      code: 'body_too_large',
      detail: `the body is larger than ${limitBytes} bytes`,
      advice: 'send a smaller body, or raise server.bodyLimit',
      facts: { limitBytes },
    };
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => ({
    status: 415,
    code: 'unsupported_media_type',
    detail: 'the content type of the body is not supported',
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
    detail: 'a part of the path is longer than any id',
    advice: 'check the id in the path',
  }),
};

/** One of each that Fastify can make of a request. */
export function frameworkProblems(request: FailedRequest): readonly Problem[] {
  return Object.values(FASTIFY_PROBLEMS).map((problemOf) => problemOf(request));
}

/** Fastify's error, either itself or as the cause of Nest's HttpException. */
function fastifyCodeOf(error: unknown): string | null {
  const inner = error instanceof HttpException ? error.cause : error;
  if (!(inner instanceof Error) || !('code' in inner) || typeof inner.code !== 'string') return null;
  return inner.code.startsWith('FST_') ? inner.code : null;
}

function statusOf(error: unknown): number | null {
  if (error instanceof HttpException) return error.getStatus();
  // Accept a status of the error only below 500: errors above are ours, and go to the log.
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
    advice: status === 503 || status === 429 ? 'try again in a moment' : 'see /docs for what this path accepts',
    retryable: status === 503 || status === 429,
    ...(facts === undefined ? {} : { facts }),
  };
}

/** Passes on a body that was made on purpose (the report of the health check); drops Nest's default body, which adds nothing. */
function factsOf(response: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof response !== 'object' || response === null || 'statusCode' in response) return undefined;
  return { ...response };
}

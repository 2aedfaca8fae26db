import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_CONTENT_TYPE, problemJson, type Problem } from './problem-details.js';

/** Node would answer these itself, without a body. */
export const NO_HOST: Problem = {
  status: 400,
  code: 'malformed_http',
  detail: 'the header Host is missing, which HTTP/1.1 demands',
  advice: 'send the header Host',
};
export const UNMET_EXPECTATION: Problem = {
  status: 417,
  code: 'expectation_failed',
  detail: 'the header Expect has something else than 100-continue',
  advice: 'leave the header Expect out',
};
/** Of all of it. Fastify refuses a long part of a path. */
export const LONG_URL: Problem = {
  status: 414,
  code: 'url_too_long',
  detail: 'the URL is longer than 8000 characters',
  advice: 'send fewer or shorter parameters',
};
const NO_PROXY: Problem = {
  status: 405,
  code: 'method_not_allowed',
  detail: 'this is no proxy: no path accepts CONNECT',
  advice: 'see /docs for all paths',
};

/** Answers input that is not valid HTTP. There is only a socket, and no request and no reply. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // A client that has disconnected gets no answer.
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  endWith(problemOf(error.code), '', socket);
}

/** Answers CONNECT, which no route can have: Node leaves the socket to whoever listens, with its errors. */
export function answerConnect({ url = '' }: IncomingMessage, socket: Socket): void {
  socket.on('error', () => socket.destroy());
  endWith(NO_PROXY, url, socket);
  socket.destroySoon();
}

function endWith(problem: Problem, url: string, socket: Socket): void {
  const body = problemJson(problem, url);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function problemOf(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      status: 408,
      code: 'request_timeout',
      detail: 'the request did not arrive in time',
      advice: 'send it again',
      retryable: true,
    };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return {
      status: 431,
      code: 'headers_too_large',
      detail: 'the request headers are too large',
      advice: 'send fewer or shorter headers',
    };
  }
  return { status: 400, code: 'malformed_http', detail: 'not an HTTP request', advice: 'send an HTTP/1.1 request' };
}

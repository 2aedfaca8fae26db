import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_CONTENT_TYPE, problemJson, type Problem } from './problem-details.js';

/** Answers input that is not valid HTTP. There is only a socket, and no request and no reply. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // A client that has disconnected gets no answer.
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const problem = problemOf(error.code);
  const body = problemJson(problem, '');
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

import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { answerBrokenRequest } from '../../../src/platform/http/broken-request.js';

/** What becomes of a connection on which something came that is no request. */
function answered(code: string | undefined, state: Partial<Socket> = {}): { text: string | null; destroyed: boolean } {
  const outcome = { text: null as string | null, destroyed: false };
  const socket = {
    destroyed: false,
    writable: true,
    ...state,
    end: (text: string) => void (outcome.text = text),
    destroy: () => void (outcome.destroyed = true),
  };
  answerBrokenRequest(
    Object.assign(new Error('broken'), code === undefined ? {} : { code }),
    socket as unknown as Socket,
  );
  return outcome;
}

describe('what is no HTTP request', () => {
  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'request_timeout', true],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large', 'headers_too_large', false],
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'malformed_http', false],
    [undefined, 'HTTP/1.1 400 Bad Request', 'malformed_http', false],
  ])('(%s) is answered with a problem, and the connection is closed', (code, line, problem, retryable) => {
    const [head = '', body = ''] = answered(code).text?.split('\r\n\r\n') ?? [];
    expect(head.split('\r\n')).toEqual([
      line,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]);
    expect(JSON.parse(body)).toMatchObject({ status: Number(line.split(' ')[1]), code: problem, retryable });
  });

  it('is not answered when the client has gone', () => {
    const nothing = { text: null, destroyed: false };
    expect([answered('ECONNRESET'), answered('HPE_INVALID_METHOD', { destroyed: true })]).toEqual([nothing, nothing]);
  });

  it('ends a connection on which no answer can be sent', () => {
    expect(answered('HPE_INVALID_METHOD', { writable: false })).toEqual({ text: null, destroyed: true });
  });
});

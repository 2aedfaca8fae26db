import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/until.js';
import { type HttpApp, send, startHttpApp } from './http-app.js';
import { rawAnswer } from './raw-answer.js';

const HEADERS_MS = 400;
const REQUEST_MS = 800;
const SLOW_CLIENTS = 300;

let http: HttpApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  http = await startHttpApp(undefined, 2048, { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await http.app.close();
});

interface SlowClient {
  text: string;
  ended: boolean;
}

/** Sends `begin`, and then one byte of a header or body at a time, faster than any idle limit. */
function slowClient(begin: string, drip: string): Promise<SlowClient> {
  const client: SlowClient = { text: '', ended: false };
  return new Promise((resolve, reject) => {
    const socket = connect(http.port, '127.0.0.1', () => {
      if (begin !== '') socket.write(begin);
      timer = setInterval(() => drip !== '' && socket.writable && socket.write(drip), 50);
      resolve(client);
    });
    let timer: NodeJS.Timeout;
    sockets.push(socket);
    socket.on('data', (chunk) => (client.text += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      clearInterval(timer);
      client.ended = true;
    });
  });
}

const problemIn = (text: string): unknown => JSON.parse(text.split('\r\n\r\n')[1] ?? '');

describe('a request that is too large', () => {
  it('is 414 url_too_long for its URL, also where there is no route', async () => {
    for (const path of ['/api/v1/things', '/nowhere']) {
      const long = `${path}?limit=7&state=${'a'.repeat(8_000)}`;
      const { status, text } = await send(http.port, { url: long });
      expect([status, JSON.parse(text)]).toMatchObject([414, { code: 'url_too_long', status: 414 }]);
    }
    const exact = `/api/v1/things?${'a'.repeat(8_000 - '/api/v1/things?'.length)}`;
    expect((await send(http.port, { url: exact })).status).toBe(400);
  });

  it('is 431 headers_too_large for its headers', async () => {
    const text = await rawAnswer(http.port, `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(16_384)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(problemIn(text)).toMatchObject({ code: 'headers_too_large', status: 431 });
  });
});

describe('clients that send slowly', () => {
  it('a header, a body, or nothing, are answered 408 request_timeout in time, and keep nobody else waiting', async () => {
    const begin = 'POST /api/v1/things HTTP/1.1\r\nHost: x\r\n';
    const body = `${begin}Content-Type: application/json\r\nContent-Length: 2000\r\n\r\n`;
    const startedMs = performance.now();
    const slow = await Promise.all(
      Array.from({ length: SLOW_CLIENTS }, (_, n) =>
        n % 3 === 0 ? slowClient(begin, 'X') : n % 3 === 1 ? slowClient(body, ' ') : slowClient('', ''),
      ),
    );
    expect((await send(http.port, { url: '/api/v1/things' })).status).toBe(200);
    await until('all are closed', async () => slow.every(({ ended }) => ended), 10_000);
    expect(performance.now() - startedMs).toBeGreaterThan(HEADERS_MS);
    for (const { text } of slow) {
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(problemIn(text)).toMatchObject({ code: 'request_timeout', status: 408, retryable: true });
    }
  });
});

describe('every answer', () => {
  const cases = {
    'a good one': { url: '/api/v1/things' },
    'a broken rule': { url: '/api/v1/things/fault/conflict' },
    'an internal error': { url: '/api/v1/things/fault/bug' },
    'no route': { url: '/nowhere' },
    'another method': { method: 'PUT', url: '/api/v1/things' },
    'the methods of a path': { method: 'OPTIONS', url: '/api/v1/things' },
    'a URL that is too long': { url: `/${'a'.repeat(9_000)}` },
    'the metrics': { url: '/metrics' },
  } as const;

  it.each(Object.entries(cases))(
    'has headers that keep a browser from using it as something else: %s',
    async (_, sent) => {
      const { headers } = await send(http.port, sent);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*;frame-ancestors 'none'$/),
      });
      for (const name of ['server', 'x-powered-by', 'strict-transport-security', 'access-control-allow-origin'])
        expect(headers).not.toHaveProperty(name);
    },
  );

  it('of the API is kept in no cache', async () => {
    const control = async (url: string) => (await send(http.port, { url })).headers['cache-control'];
    expect([await control('/api/v1/things'), await control('/api/v1/things/fault/bug')]).toEqual([
      'no-store',
      'no-store',
    ]);
  });
});

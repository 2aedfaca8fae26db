import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { send, startHttpApp, type HttpApp, type Sent } from './http-app.js';
import { rawAnswer } from './raw-answer.js';

describe('every error of the HTTP server', () => {
  let http: HttpApp;
  beforeAll(async () => {
    http = await startHttpApp();
  });
  afterAll(() => http.app.close());
  beforeEach(() => void http.lines.splice(0));

  const JSON_HEADERS = { 'content-type': 'application/json' };
  /** Sends it, and checks what every problem has in common. */
  async function problemOf(sent: Sent) {
    const answer = await send(http.port, { method: 'POST', url: '/api/v1/things', ...sent });
    const problem = JSON.parse(answer.text);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(problem).toMatchObject({
      type: `urn:lockstep:problem:${problem.code}`,
      title: expect.any(String),
      status: answer.status,
      detail: expect.stringMatching(/./),
      advice: expect.stringMatching(/./),
      retryable: expect.any(Boolean),
    });
    expect(problem).not.toHaveProperty('statusCode');
    return { ...problem, headers: answer.headers };
  }

  describe('raised by the domain', () => {
    it.each([
      ['conflict', 409, 'idempotency_conflict', false],
      ['missing', 404, 'tx_not_found', false],
      ['refused', 422, 'signer_unknown', false],
      ['busy', 503, 'intake_full', true],
      ['crowded', 429, 'too_many_waiters', true],
    ])('%s is %i %s', async (fault, status, code, retryable) => {
      const url = `/api/v1/things/fault/${fault}?x=1`;
      const problem = await problemOf({ method: 'GET', url });
      expect(problem).toMatchObject({ status, code, retryable, instance: `/api/v1/things/fault/${fault}` });
    });

    it('shows its facts, with big numbers as text', async () => {
      const problem = await problemOf({ method: 'GET', url: '/api/v1/things/fault/conflict' });
      expect(problem).toMatchObject({
        title: 'Idempotency conflict',
        detail: 'other body',
        advice: 'use another requestId',
        facts: { nonce: '1152921504606846976' },
      });
    });

    it.each(['busy', 'crowded'])('says when to come back while there is no room: %s', async (fault) => {
      const { headers } = await problemOf({ method: 'GET', url: `/api/v1/things/fault/${fault}` });
      expect(headers['retry-after']).toBe('1');
    });
  });

  it('says when to come back as exactly as is known, and not where nobody knows', async () => {
    const at = async (fault: string) => {
      const { headers } = await problemOf({ method: 'GET', url: `/api/v1/things/fault/${fault}` });
      return headers['retry-after'];
    };
    expect([await at('elsewhere'), await at('conflict'), await at('bug')]).toEqual(['7', undefined, undefined]);
  });

  it('has the id of the caller only where that is safe to log', async () => {
    const idFor = async (given: string): Promise<string> => {
      const { headers } = await problemOf({ headers: { 'x-request-id': given } });
      return String(headers['x-request-id']);
    };
    for (const good of ['a', 'trace.1:2_3-4', 'x'.repeat(100)]) expect(await idFor(good)).toBe(good);
    for (const bad of ['', 'a b', '{"a":1}', 'x'.repeat(101)]) expect(await idFor(bad)).toMatch(/^[0-9a-f-]{36}$/);
  });

  describe('that is our own fault', () => {
    it.each(['invariant', 'bug', 'pretender', 'unheard-of'])(
      '(%s) tells the client nothing and the log all',
      async (fault) => {
        const problem = await problemOf({
          method: 'GET',
          url: `/api/v1/things/fault/${fault}`,
          headers: { 'x-request-id': 'trace-1' },
        });
        expect(problem).toMatchObject({ status: 500, code: 'internal_error' });
        expect(JSON.stringify(problem)).not.toMatch(/slot|secret-internals|no such fault|\.ts/);
        expect(problem.headers['x-request-id']).toBe('trace-1');
        expect(http.lines).toContainEqual(
          expect.objectContaining({
            level: 'error',
            msg: 'http.internal_error',
            httpRequestId: 'trace-1',
            route: '/api/v1/things/fault/:name',
            error: expect.objectContaining({ stack: expect.any(String) }),
          }),
        );
      },
    );
  });

  describe('raised by Nest', () => {
    it('keeps its status and words', async () => {
      const problem = await problemOf({ method: 'GET', url: '/api/v1/things/fault/nest' });
      expect(problem).toMatchObject({ status: 404, code: 'not_found', detail: 'not in this list' });
    });

    it('may be tried again when it was only too fast', async () => {
      const problem = await problemOf({ method: 'GET', url: '/api/v1/things/fault/throttled' });
      expect(problem).toMatchObject({ status: 429, code: 'too_many_requests', detail: 'too fast', retryable: true });
    });

    it('keeps a report made on purpose, such as a health check', async () => {
      const problem = await problemOf({ method: 'GET', url: '/api/v1/things/fault/health' });
      expect(problem).toMatchObject({
        status: 503,
        code: 'service_unavailable',
        retryable: true,
        facts: { status: 'error', details: { database: { status: 'down' } } },
      });
    });
  });

  describe('raised by Fastify, before Nest', () => {
    it.each([
      ['cut off', '{"requestId": "a'],
      ['not JSON at all', 'hello'],
      ['with a prototype', '{"__proto__": {"admin": true}}'],
      ['with a constructor', '{"constructor": {"prototype": {"admin": true}}}'],
    ])('JSON that is %s is malformed_json', async (_words, payload) => {
      expect(await problemOf({ payload, headers: JSON_HEADERS })).toMatchObject({
        status: 400,
        code: 'malformed_json',
      });
    });

    it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
      'an empty body of type %s is none',
      async (type) => {
        const problem = await problemOf({ payload: '', headers: { 'content-type': type } });
        expect(problem.errors).toMatchObject([{ path: 'requestId', code: 'missing_field' }]);
      },
    );

    it('a body too large is told the limit', async () => {
      const payload = JSON.stringify({ requestId: 'x'.repeat(4096) });
      const problem = await problemOf({ payload, headers: JSON_HEADERS });
      expect(problem).toMatchObject({ status: 413, code: 'body_too_large', facts: { limitBytes: 2048 } });
      expect(problem.detail).toContain('2048');
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense'])(
      'a body of type %s is unsupported_media_type',
      async (type) => {
        const problem = await problemOf({ payload: 'requestId=1', headers: { 'content-type': type } });
        expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type' });
      },
    );

    it.each(['/nowhere', '/api/v1/nowhere', '/api/v1/things/1/2/3', '/api/v1/things/'])(
      'nothing at %s is route_not_found',
      async (url) => {
        const problem = await problemOf({ method: 'PUT', url: url === '/api/v1/things/' ? '/api/v2/things' : url });
        expect(problem).toMatchObject({ status: 404, code: 'route_not_found' });
      },
    );

    it('a path that takes other methods says which', async () => {
      const problem = await problemOf({ method: 'PUT', url: '/api/v1/things?x=1' });
      expect(problem).toMatchObject({
        status: 405,
        code: 'method_not_allowed',
        facts: { allowed: ['GET', 'HEAD', 'POST'] },
      });
      expect(problem.headers.allow).toBe('GET, HEAD, POST');
      expect(await problemOf({ url: '/api/v1/things/7' })).toMatchObject({ code: 'method_not_allowed' });
    });

    it('a path of its own takes no method of the path with a parameter beside it', async () => {
      const { code, headers } = await problemOf({ method: 'GET', url: '/api/v1/things/batch' });
      expect([code, headers.allow]).toEqual(['method_not_allowed', 'POST']);
    });

    it('OPTIONS names the methods of a path, and of no other', async () => {
      const answer = await send(http.port, { method: 'OPTIONS', url: '/api/v1/things?a=1' });
      expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, 'GET, HEAD, POST, OPTIONS', '']);
      expect(await problemOf({ method: 'OPTIONS', url: '/nowhere' })).toMatchObject({ code: 'route_not_found' });
    });

    it('a malformed URL and an endless one are problems too', async () => {
      expect(await problemOf({ method: 'GET', url: '/api/v1/things/%zz' })).toMatchObject({ code: 'malformed_url' });
      const long = await problemOf({ method: 'GET', url: `/api/v1/things/${'a'.repeat(500)}` });
      expect(long).toMatchObject({ status: 414, code: 'url_too_long' });
      expect(long.instance.length).toBeLessThanOrEqual(200);
    });
  });

  describe('in the form of a request', () => {
    const post = (body: object): ReturnType<typeof problemOf> => problemOf({ payload: body });

    it('is reported all at once, with paths and codes', async () => {
      const problem = await post({ payload: { to: '0x12', value: -1, data: '0xabc', colour: 1 } });
      expect(problem).toMatchObject({ status: 400, code: 'invalid_request', retryable: false });
      const errors: { path: string; code: string }[] = problem.errors;
      expect(errors.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
        'payload.colour unknown_field',
        'payload.data invalid_hex',
        'payload.to invalid_address',
        'payload.value invalid_quantity',
        'requestId missing_field',
      ]);
    });

    it('is unknown_field when that is the only kind', async () => {
      const problem = await post({ requestId: 'a', payload: {}, gas: 1, payloads: {} });
      expect(problem.code).toBe('unknown_field');
      expect(problem.errors).toHaveLength(2);
    });

    it.each([
      ['a hex digit too few', { data: '0xabc' }],
      ['more bytes than allowed', { data: `0x${'00'.repeat(17)}` }],
      ['a negative amount', { value: '-1' }],
      ['an amount above 256 bits', { value: (2n ** 256n).toString() }],
      ['a fraction', { value: 1.5 }],
      ['a number JSON cannot hold', { value: 2 ** 60 }],
      ['an address that is no text', { to: 12 }],
    ])('says what to send instead of %s', async (_words, payload) => {
      const problem = await post({ requestId: 'a', payload });
      expect(problem.errors).toHaveLength(1);
      expect(problem.errors[0].message).toMatch(/must be .*(0x|decimal)/);
    });

    it.each([
      ['a list', [{ requestId: 'a', payload: {} }]],
      ['null', 'null'],
      ['a number', '5'],
      ['a payload that is text', { requestId: 'a', payload: 'hi' }],
      ['a payload that is a list', { requestId: 'a', payload: [1] }],
    ])('includes %s where an object belongs', async (_words, body) => {
      const problem = await problemOf({ payload: body, headers: JSON_HEADERS });
      expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    });

    it('is its depth beyond thirty-two', async () => {
      const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });
      expect(await post(nested(32))).toMatchObject({ code: 'invalid_request' });
      expect(await post(nested(33))).toMatchObject({ status: 400, code: 'nested_too_deeply' });
    });

    it('never sends back what is long', async () => {
      const long = 'y'.repeat(900);
      const problem = await post({ requestId: 'a', payload: { to: long }, [long]: 1 });
      expect(JSON.stringify(problem)).not.toMatch(/y{81}/);
      const many = await post(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, 1])));
      expect(many.errors).toHaveLength(50);
    });

    it('covers the query', async () => {
      const empty = await problemOf({ method: 'GET', url: '/api/v1/things?limit=' });
      expect(empty.errors).toMatchObject([{ path: 'limit' }]);
      const problem = await problemOf({ method: 'GET', url: '/api/v1/things?limit=9999&state=NEW&colour=red' });
      expect(problem.errors.map(({ path }: { path: string }) => path).sort()).toEqual(['colour', 'limit', 'state']);
    });
  });

  it('is none for a good request', async () => {
    const body = { requestId: 'a', payload: { to: `0x${'Ab'.repeat(20)}`, value: '0x10', data: '0xAB' } };
    const created = await send(http.port, { method: 'POST', url: '/api/v1/things', payload: body });
    expect([created.status, JSON.parse(created.text)]).toEqual([202, { created: 'a', isDto: true }]);
    expect(created.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const listed = await send(http.port, { method: 'GET', url: '/api/v1/things?limit=7' });
    expect(JSON.parse(listed.text)).toEqual({ limit: 7 });
  });

  it('leaves /metrics as plain text', async () => {
    const answer = await send(http.port, { method: 'GET', url: '/metrics' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=/);
    expect(answer.text).toContain('process_cpu_seconds_total');
  });
});

describe('a listening server', () => {
  it('answers what is not HTTP with a problem', async () => {
    const { app, port } = await startHttpApp();
    const raw = await rawAnswer(port, 'what is this\r\n\r\n');
    expect(raw).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(raw).toContain('application/problem+json');
    expect(JSON.parse(raw.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'malformed_http' });
    await app.close();
  });

  it.each([
    ['GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_http'],
    ['GET /api/v1/nothing HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_http'],
    [
      'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: miracles\r\n\r\n',
      417,
      'expectation_failed',
    ],
    ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405, 'method_not_allowed'],
  ])('answers with a problem, and not as Node does: %j', async (text, status, code) => {
    const { app, port } = await startHttpApp();
    const [head = '', body = ''] = (await rawAnswer(port, text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head.toLowerCase()).toContain('content-type: application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, code });
    expect(await rawAnswer(port, 'GET /api/v1/things HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    await app.close();
  });

  it('outlives a client that resets the connection after CONNECT', async () => {
    const { app, port } = await startHttpApp();
    for (let n = 0; n < 20; n += 1) {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', () => socket.resetAndDestroy()),
      );
      await new Promise((resolve) => socket.on('close', resolve));
    }
    expect((await send(port, { url: '/api/v1/things' })).status).toBe(200);
    await app.close();
  });

  it('finishes what it has while it closes, and sends late requests of the same connection elsewhere', async () => {
    const { app, port } = await startHttpApp();
    const body = JSON.stringify({ requestId: 'a', payload: {} });
    const head = (length: number): string =>
      `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => (text += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    // Half a request is in flight when the close begins; its other half, and one more request, come after.
    const arrived = new Promise((resolve) => app.getHttpServer().once('request', resolve));
    socket.write(head(body.length) + body.slice(0, 5));
    await arrived;
    const closing = app.close();
    await refusesConnections(port);
    socket.write(body.slice(5) + head(body.length) + body);
    await Promise.all([closing, ended]);
    expect(text).toContain('"created":"a"');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 202', 'HTTP/1.1 503']);
    expect(text).toContain('"code":"shutting_down"');
  });
});

/** The moment from which the server is closing: it has stopped listening. */
async function refusesConnections(port: number): Promise<void> {
  const refused = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(false);
      });
      socket.on('error', () => resolve(true));
    });
  while (!(await refused())) await new Promise((resolve) => setImmediate(resolve));
}

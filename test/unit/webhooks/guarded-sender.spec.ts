import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/modules/webhooks/domain/webhook-sender.js';
import type { GuardedSender } from '../../../src/modules/webhooks/infrastructure/guarded-sender.js';
import { insideTransaction } from '../../../src/platform/database/transaction-scope.js';
import { until } from '../../support/until.js';
import { guardedSender, Receiver, shipment } from './sender-lab.js';

const LOOPBACK = ['127.0.0.1'];
const DAY_MS = 86_400_000;

let receiver: Receiver;
let sender: GuardedSender;

beforeEach(async () => {
  receiver = await new Receiver().start();
  sender = guardedSender({ allow: LOOPBACK });
});

afterEach(async () => {
  await sender.onApplicationShutdown();
  await receiver.stop();
});

const send = (): Promise<Answer> => sender.send(shipment(receiver.url()));

/** A sender with this time-out in place of the usual one. */
async function waitAtMost(timeoutMs: number): Promise<void> {
  await sender.onApplicationShutdown();
  sender = guardedSender({ allow: LOOPBACK, timeoutMs });
}

const isClosed = (index: number) => (): Promise<boolean> =>
  Promise.resolve(receiver.sockets[index]?.destroyed === true);

/** Piece by piece, so that they arrive one after the other. */
function streamed(pieces: readonly string[]): Readable {
  return Readable.from(
    (async function* () {
      for (const piece of pieces) {
        yield piece;
        await new Promise(setImmediate);
      }
    })(),
  );
}

describe('a post', () => {
  it('has the body and the headers of the shipment, and says what it is', async () => {
    await sender.send(shipment(receiver.url(), { body: '{"note":"größer 💶"}' }));
    const [received] = receiver.received;
    expect(received?.body).toBe('{"note":"größer 💶"}');
    expect(received?.request).toMatchObject({ method: 'POST', url: '/hook?a=1' });
    expect(received?.request.headers).toMatchObject({
      'webhook-id': 'msg_1',
      'content-type': 'application/json',
      'user-agent': 'Lockstep',
    });
  });

  it('goes over a kept connection', async () => {
    for (let n = 0; n < 50; n += 1) expect(await send()).toMatchObject({ status: 200, error: null });
    expect(receiver.received).toHaveLength(50);
    // A second one, because undici counts a connection as busy for a moment after the end of the answer.
    expect(receiver.sockets.length).toBeLessThanOrEqual(2);
  });

  it('waits for no connection that others hold', async () => {
    receiver.answer = (response) => {
      if (receiver.received.length === 300) response.end();
    };
    const others = Array.from({ length: 299 }, send);
    await until('they are at the receiver', async () => receiver.received.length === 299);
    expect(await send()).toMatchObject({ status: 200 });
    await receiver.stop();
    await Promise.all(others);
  });

  it('cannot be made inside a database transaction', async () => {
    await expect(insideTransaction(send)).rejects.toThrow('a webhook was called inside a database transaction');
  });

  it('with a header that HTTP does not have is not sent, and does not throw', async () => {
    const answer = await sender.send(shipment(receiver.url(), { headers: { 'x-a': 'b\r\nhost: evil' } }));
    expect(answer).toMatchObject({ status: null, error: 'failed: invalid x-a header' });
    expect(receiver.received).toEqual([]);
  });
});

describe('an answer', () => {
  it.each([200, 201, 204, 299, 400, 410, 500])('of status %d is what it is', async (status) => {
    receiver.answer = (response) => response.writeHead(status).end(status === 204 ? undefined : 'words');
    expect(await send()).toEqual({
      status,
      body: status === 204 ? '' : 'words',
      error: null,
      retryAfterMs: null,
      durationMs: expect.any(Number),
    });
  });

  it.each<[string, string, number | null, number | null]>([
    ['seconds', '120', 120_000, 120_000],
    ['no time', '0', 0, 0],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString(), 3_000_000, 3_600_000],
    ['a date that is over', 'Wed, 21 Oct 2015 07:28:00 GMT', 0, 0],
    ['more than a day', '99999999999', DAY_MS, DAY_MS],
    ['a date years from now', 'Fri, 31 Dec 2150 23:59:59 GMT', DAY_MS, DAY_MS],
    ['no number', 'soon', null, null],
  ])('of status 429 with Retry-After of %s says how long to wait', async (_form, header, least, most) => {
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': header }).end();
    const { status, retryAfterMs } = await send();
    expect(status).toBe(429);
    if (least === null || most === null) expect(retryAfterMs).toBeNull();
    else expect(retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(retryAfterMs ?? 0).toBeLessThanOrEqual(most ?? 0);
  });

  it.each([
    ['a private address', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a target that is allowed', () => receiver.url()],
  ])('that redirects to %s is not followed', async (_target, location) => {
    receiver.answer = (response) => response.writeHead(302, { location: location() }).end('moved');
    expect(await send()).toMatchObject({
      status: 302,
      body: 'moved',
      error: `redirect: the answer sends on to ${location()}, and redirects are not followed`,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('of 10 MB is read for its first part, and then loses its connection', async () => {
    let kilobytes = 0;
    receiver.answer = (response) => {
      const body = (function* () {
        for (; kilobytes < 10_000; kilobytes += 1) yield 'x'.repeat(1_000);
      })();
      Readable.from(body).pipe(response);
    };
    expect(await send()).toMatchObject({ status: 200, body: 'x'.repeat(1024), error: null });
    await until('the connection is closed', isClosed(0));
    expect(kilobytes).toBeLessThan(9_000);
  });

  it('of 60 kB keeps its connection', async () => {
    const pieces = Array.from({ length: 20 }, () => 'x'.repeat(3_000));
    receiver.answer = (response) => void streamed(pieces).pipe(response);
    for (let n = 0; n < 10; n += 1) expect(await send()).toMatchObject({ status: 200, body: 'x'.repeat(1024) });
    expect(receiver.sockets.length).toBeLessThanOrEqual(2);
  });
});

describe('a receiver that', () => {
  it('takes the post and says nothing costs the time-out, and its connection', async () => {
    await waitAtMost(300);
    receiver.answer = () => undefined;
    const answer = await send();
    expect(answer).toMatchObject({ status: null, body: '', error: 'timeout: no complete answer within 0.3 s' });
    expect(answer.durationMs).toBeGreaterThanOrEqual(295);
    expect(answer.durationMs).toBeLessThan(3_000);
    await until('the connection is closed', isClosed(0));
  });

  it('sends its answer byte by byte costs no more', async () => {
    await waitAtMost(500);
    receiver.answer = (response) => {
      const timer = setInterval(() => response.write('.'), 50);
      response.on('close', () => clearInterval(timer));
    };
    const answer = await send();
    expect(answer).toMatchObject({ status: 200, error: 'timeout: no complete answer within 0.5 s' });
    expect(answer.body).toMatch(/^\.+$/);
    expect(answer.durationMs).toBeLessThan(3_000);
    await until('the connection is closed', isClosed(0));
  });

  it('holds all its connections lets no other post wait longer', async () => {
    await waitAtMost(500);
    receiver.answer = () => undefined;
    const answers = await Promise.all(Array.from({ length: 70 }, send));
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(['timeout: no complete answer within 0.5 s']));
    expect(Math.max(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(3_000);
  });

  it('resets the connection before it answers is told apart from one that is not there', async () => {
    receiver.answer = (_response, request) => request.socket.resetAndDestroy();
    expect(await send()).toMatchObject({ status: null, error: expect.stringMatching(/^connection: it ended before/) });
    const url = receiver.url();
    await receiver.stop();
    const answer = await sender.send(shipment(url));
    expect(answer).toMatchObject({ status: null, error: 'connection: refused (ECONNREFUSED)' });
  });

  it('resets the connection within its answer has answered nothing that counts', async () => {
    receiver.answer = (response, request) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => request.socket.resetAndDestroy());
    };
    expect(await send()).toMatchObject({ status: 200, error: expect.stringMatching(/^connection: it ended before/) });
  });

  it('does not speak HTTP is said to be so', async () => {
    receiver.answer = (_response, request) => void request.socket.end('220 mail.example ESMTP\r\n');
    expect(await send()).toMatchObject({
      status: null,
      error: expect.stringMatching(/^http: the answer is not valid: Response does not match/),
    });
  });

  it('sends headers without end is cut off', async () => {
    receiver.answer = (response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end();
    expect(await send()).toMatchObject({
      status: null,
      error: 'http: the answer is not valid: Headers Overflow Error',
    });
  });
});

describe('proxies of the environment', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = NAMES.map((name) => process.env[name]);
  afterEach(() => NAMES.forEach((name, index) => setVariable(name, before[index])));

  it('see nothing', async () => {
    const proxy = await new Receiver().start();
    for (const name of NAMES) setVariable(name, name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url());
    await waitAtMost(10_000);
    expect(await send()).toMatchObject({ status: 200 });
    expect(proxy.sockets).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    await proxy.stop();
  });
});

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) Reflect.deleteProperty(process.env, name);
  else process.env[name] = value;
}

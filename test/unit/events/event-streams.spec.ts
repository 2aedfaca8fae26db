import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { NO_REST } from '../../support/fakes/fake-pauses.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventSource } from 'undici';
import { EventsConfig } from '../../../src/config/lockstep-config.js';
import { EventWindow } from '../../../src/modules/events/application/event-window.js';
import { ListEvents } from '../../../src/modules/events/application/list-events.js';
import { OldReads } from '../../../src/modules/events/application/old-reads.js';
import { EventBell, EventReader } from '../../../src/modules/events/index.js';
import { EventsController } from '../../../src/modules/events/infrastructure/http/events.controller.js';
import { EventStreams } from '../../../src/modules/events/infrastructure/http/event-streams.js';
import { IS_LONG, type IsLong } from '../../../src/platform/http/scope.js';
import { aSigner } from '../../support/builders.js';
import { aPublicEvent, MemoryEventLog } from '../../support/fakes/memory-event-log.js';
import { SilentEventBell } from '../../support/fakes/silent-event-bell.js';
import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

let http: HttpApp;
let log: MemoryEventLog;
let clients: StreamClient[];
let isClosed: boolean;
/** In place of the guard that finds out who calls. */
let guard: (response: ServerResponse, request: FastifyRequest) => Promise<boolean>;

async function start(config: Partial<EventsConfig> = {}): Promise<void> {
  log = new MemoryEventLog();
  http = await startHttpApp({
    controllers: [EventsController],
    providers: [
      EventStreams,
      EventWindow,
      ListEvents,
      { provide: OldReads, useFactory: () => new OldReads(log, new FakeClock(), NO_REST) },
      { provide: EventReader, useValue: log },
      { provide: EventBell, useClass: SilentEventBell },
      {
        provide: APP_GUARD,
        useValue: {
          canActivate(context: ExecutionContext) {
            const exchange = context.switchToHttp();
            return guard(exchange.getResponse<FastifyReply>().raw, exchange.getRequest<FastifyRequest>());
          },
        },
      },
      { provide: EventsConfig, useValue: Object.assign(new EventsConfig(), config) },
    ],
  });
}

beforeEach(() => {
  [clients, isClosed, guard] = [[], false, async () => true];
});
afterEach(async () => {
  for (const client of clients) client.close();
  if (!isClosed) await http.app.close();
});

const url = (query = ''): string => `http://127.0.0.1:${http.port}/api/v1/events${query}`;
async function open(query = '', headers: Readonly<Record<string, string>> = {}): Promise<StreamClient> {
  const client = await StreamClient.open(url(query), headers);
  clients.push(client);
  return client;
}
const add = (from: number, to: number): void => {
  for (let n = from; n <= to; n += 1) log.add(aPublicEvent(n));
};
const numbers = (client: StreamClient): unknown[] => client.frames.map(({ data }) => (data['data'] as { n: number }).n);
const received = (client: StreamClient, count: number): Promise<void> =>
  until(`${count} events arrived`, async () => client.frames.length >= count, 10_000);
const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  send(http.port, { url: `/api/v1/events${query}`, headers });
const codeOf = ({ text }: { text: string }): unknown => (JSON.parse(text) as { code?: string }).code;

it.each<[string, Record<string, string>, boolean]>([
  ['', {}, true],
  ['?after=0-0-0', {}, false],
  ['?after=0-0-0', { 'last-event-id': '' }, false],
  ['', { 'last-event-id': '0-0-0' }, false],
  ['?after=0-0-0', { accept: 'text/event-stream' }, true],
  ['', { accept: 'application/json' }, false],
])('%s with %j is counted as a stream where it is answered with one: %s', async (query, headers, isStream) => {
  const isLong = Reflect.getMetadata(IS_LONG, EventsController.prototype.events) as IsLong;
  const counted: boolean[] = [];
  guard = async (_response, incoming) => (counted.push(isLong(incoming)), true);
  await start();
  const answered = await new Promise<boolean>((resolve, reject) => {
    const sent = request(url(query), { headers }, (response) => {
      resolve(response.headers['content-type']?.startsWith('text/event-stream') === true);
      response.destroy();
    });
    sent.on('error', reject).end();
  });
  expect([counted, answered]).toEqual([[isStream], isStream]);
});

describe('a stream of events', () => {
  it('begins with what happens from now on, and has the id, the type and the body of each event', async () => {
    await start();
    add(1, 3);
    const client = await open();
    await until('it has its place', async () => client.lastId === '3-3-0');
    add(4, 5);
    await received(client, 2);
    expect(client.frames[0]).toEqual({
      id: '4-4-0',
      event: 'tx.submitted',
      data: { id: '4-4-0', type: 'tx.submitted', version: 1, time: '2025-01-01T00:00:00.000Z', data: { n: 4 } },
    });
    expect(client.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
    expect(client.response.headers['x-request-id']).toBeDefined();
  });

  it('goes on after a place, and believes the header before the URL', async () => {
    await start();
    add(1, 2_500);
    const all = await open('?after=0-0-0');
    const rest = await open('?after=0-0-0', { 'last-event-id': '2490-2490-0' });
    await Promise.all([received(all, 2_500), received(rest, 10)]);
    add(2_501, 2_501);
    await Promise.all([received(all, 2_501), received(rest, 11)]);
    expect(numbers(all)).toEqual(Array.from({ length: 2_501 }, (_, i) => i + 1));
    expect(numbers(rest)).toEqual(Array.from({ length: 11 }, (_, i) => 2_491 + i));
  });

  it.each([
    ['signer', `?signer=${aSigner(7).address.toUpperCase().replace('0X', '0x')}`, 2],
    ['chainId', '?chainId=5', 3],
    ['txId', '?txId=01900000-0000-7000-8000-00000000000A', 4],
    ['types', '?types=tx.confirmed,tx.failed', 5],
    ['types, one of them many times', `?types=${'tx.confirmed,'.repeat(20)}tx.failed`, 5],
    ['all of them', `?chainId=31337&types=tx.submitted&signer=${aSigner().address}`, 1],
  ])('is filtered by %s', async (_name, query, wanted) => {
    await start();
    const client = await open(query);
    log.add(
      aPublicEvent(1, { txId: '01900000-0000-7000-8000-00000000000b' }),
      aPublicEvent(2, { signer: aSigner(7).address, type: 'tx.dropped' }),
      aPublicEvent(3, { chainId: 5, type: 'tx.dropped' }),
      aPublicEvent(4, { txId: '01900000-0000-7000-8000-00000000000a', type: 'tx.dropped' }),
      aPublicEvent(5, { type: 'tx.failed' }),
      aPublicEvent(6, { type: 'tx.dropped' }),
    );
    await received(client, 1);
    expect(numbers(client)).toEqual([wanted]);
  });

  it('tells a client that sees nothing its place in the log, in heartbeats', async () => {
    await start({ heartbeat: 20 });
    const client = await open('?types=tx.dropped');
    add(1, 10);
    await until('it has the place', async () => client.lastId === '10-10-0');
    const { others } = client;
    await until('more heartbeats came', async () => client.others > others + 2);
    expect(client.frames).toEqual([]);
  });

  it('is resumed by a standard client at the place that it was told last', async () => {
    await start({ heartbeat: 20 });
    const asked: unknown[] = [];
    http.app.getHttpServer().on('request', ({ headers }: { headers: Record<string, string> }) => {
      asked.push(headers['last-event-id']);
    });
    const sockets: Socket[] = [];
    http.app.getHttpServer().on('connection', (socket: Socket) => void sockets.push(socket));
    const source = new EventSource(url('?types=tx.dropped'));
    try {
      await until('it is open', async () => source.readyState === 1);
      add(1, 10);
      await until('the log was read', async () => log.reads > 2);
      const dropped: string[] = [];
      source.addEventListener('tx.dropped', (event) => dropped.push((event as MessageEvent).lastEventId));
      await until('heartbeats came', async () => (sockets[0]?.bytesWritten ?? 0) > 500);
      sockets[0]?.destroy();
      await until('it came back', async () => asked.length === 2);
      expect(asked).toEqual([undefined, '10-10-0']);
      log.add(aPublicEvent(11, { type: 'tx.dropped' }));
      await until('the event came', async () => dropped.length === 1);
      expect(dropped).toEqual(['11-11-0']);
    } finally {
      source.close();
    }
  });

  it('is closed when its client takes nothing, and holds little in memory until then', async () => {
    await start({ slowClientTimeout: 500 });
    const text = 'x'.repeat(20_000);
    for (let n = 1; n <= 5_000; n += 1) log.add(aPublicEvent(n, { data: { n, text } }));
    const sockets: Socket[] = [];
    http.app.getHttpServer().on('connection', (socket: Socket) => void sockets.push(socket));
    const slow = await StreamClient.openUnread(url('?after=0-0-0'));
    clients.push(slow);
    let most = 0;
    await until('it is cut', async () => {
      most = Math.max(most, sockets[0]?.writableLength ?? 0);
      return sockets[0]?.destroyed === true;
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(200_000);
    expect(log.reads).toBeLessThan(5);
    expect((await send(http.port, { url: '/metrics' })).text).toMatch(/^event_streams_cut_total 1$/m);
  });

  it('is complete for a client that is slow, but not too slow', async () => {
    await start({ slowClientTimeout: 5_000 });
    const text = 'x'.repeat(20_000);
    for (let n = 1; n <= 500; n += 1) log.add(aPublicEvent(n, { data: { n, text } }));
    const client = await open('?after=0-0-0');
    for (let rest = 0; rest < 5; rest += 1) {
      client.response.pause();
      await new Promise((resolve) => setImmediate(resolve));
      client.response.resume();
    }
    await received(client, 500);
    expect(numbers(client)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  });

  it('is refused with 503 above the limit, until a client leaves', async () => {
    await start({ maxStreams: 2 });
    const first = await open();
    await open();
    const refused = await ask('');
    expect([refused.status, codeOf(refused), refused.headers['retry-after']]).toEqual([503, 'too_many_streams', '1']);
    first.close();
    await until('there is room', async () => {
      const next = await open();
      return next.status === 200;
    });
  });

  it('takes no place when it cannot begin because the database is away', async () => {
    await start({ maxStreams: 1 });
    log.isAway = true;
    for (let n = 0; n < 3; n += 1) expect(codeOf(await ask(''))).toBe('database_unavailable');
    log.isAway = false;
    expect((await open()).status).toBe(200);
  });

  it('is kept while the database is away, and goes on when it is back', async () => {
    await start();
    const client = await open();
    log.isAway = true;
    const late = await ask('');
    expect([late.status, codeOf(late)]).toEqual([503, 'database_unavailable']);
    await until('the window has noticed', async () =>
      http.lines.some(({ msg }) => msg === 'failed to read new events'),
    );
    log.isAway = false;
    add(1, 1);
    await received(client, 1);
    expect(client.ended).toBe(false);
  });

  it('ends when the node shuts down, which waits for no client', async () => {
    await start({ slowClientTimeout: 60_000 });
    const text = 'x'.repeat(20_000);
    for (let n = 1; n <= 1_000; n += 1) log.add(aPublicEvent(n, { data: { n, text } }));
    const slow = await StreamClient.openUnread(url('?after=0-0-0'));
    const client = await open();
    clients.push(slow);
    const startedAt = performance.now();
    await http.app.close();
    isClosed = true;
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await until('the client knows', async () => client.ended);
    expect(client.response.complete).toBe(true);
  });

  it('keeps no place for a client that left before it was known who calls', async () => {
    await start();
    const leaving = request(url()).on('error', () => undefined);
    let hasPassed = false;
    guard = async (response) => {
      leaving.destroy();
      await once(response, 'close');
      hasPassed = true;
      return true;
    };
    leaving.end();
    await until('it was let pass', async () => hasPassed);
    guard = async () => true;
    await until('the window was read for it', async () => log.reads > 0);
    expect((await send(http.port, { url: '/metrics' })).text).toMatch(/^event_streams 0$/m);
  });

  it('does not begin for a request of HEAD', async () => {
    await start();
    expect((await fetch(url(), { method: 'HEAD', signal: AbortSignal.timeout(5_000) })).status).toBe(200);
    expect((await send(http.port, { url: '/metrics' })).text).toMatch(/^event_streams 0$/m);
  });
});

describe('a page of events over HTTP', () => {
  it.each(['*/*', 'application/json', 'application/json, text/plain;q=0.5'])('answers Accept: %s', async (accept) => {
    await start();
    add(1, 3);
    const { status, text } = await ask('?after=0-0-0&limit=2', { accept });
    expect(status).toBe(200);
    const { items, nextCursor } = JSON.parse(text) as { items: { id: string }[]; nextCursor: string };
    expect([items.map(({ id }) => id), nextCursor]).toEqual([['1-1-0', '2-2-0'], '2-2-0']);
    const last = await ask(`?after=3-3-0`, { accept });
    expect(JSON.parse(last.text)).toEqual({ items: [], nextCursor: '3-3-0' });
  });

  it('without a place leads to what happens from now on', async () => {
    await start();
    add(1, 3);
    const { text } = await ask('', { accept: 'application/json' });
    expect(JSON.parse(text)).toEqual({ items: [], nextCursor: '3-3-0' });
  });

  it.each([
    ['?after=abc', 'invalid_event_id'],
    ['?after=', 'invalid_event_id'],
    ["?after=1-1-0'--", 'invalid_event_id'],
    [`?after=${'9'.repeat(50)}-1-0`, 'invalid_event_id'],
    ['?after=1-1-0&after=1-1-0', 'invalid_field'],
    ['?after=1-1-0&limit=0', 'invalid_field'],
    ['?after=1-1-0&limit=1001', 'invalid_field'],
    ['?types=tx.unknown', 'unknown_event_type'],
    ['?types=', 'unknown_event_type'],
    ['?types=tx.failed,', 'unknown_event_type'],
    ['?types=tx.failed&types[]=x', 'unknown_field'],
    ['?signer=0x12', 'invalid_address'],
    ['?chainId=1e99', 'invalid_field'],
    ['?txId=1', 'invalid_field'],
    ['?colour=red', 'unknown_field'],
  ])('refuses %s with %s', async (query, code) => {
    await start();
    const { status, text } = await ask(query);
    const problem = JSON.parse(text) as { code: string; errors?: { code: string }[] };
    expect([status, problem.errors?.[0]?.code ?? problem.code]).toEqual([400, code]);
  });

  it.each(['text/event-stream', 'application/json'])(
    '%s after an event that the database has lost is refused with 409',
    async (accept) => {
      await start();
      add(1, 3);
      log.isSetBack = true;
      const lost = await ask('?after=4-4-0', { accept });
      expect([lost.status, codeOf(lost)]).toEqual([409, 'unknown_event_id']);
      expect((await send(http.port, { url: '/metrics' })).text).toMatch(/^event_streams 0$/m);
    },
  );

  it('a stream ends when the database has lost its place, and leaves out nothing of what comes instead', async () => {
    await start();
    add(1, 3);
    const client = await open();
    add(4, 5);
    await received(client, 2);
    // A standby without the commits of 4 and 5 takes over, and goes on with other rows up to beyond the place of the stream.
    log.isSetBack = true;
    log.events.splice(3);
    for (const xid of [4n, 5n, 6n]) log.add(aPublicEvent(6, { position: { xid, seq: xid + 40n, part: 0 } }));
    await until('the stream has ended', async () => client.ended);
    expect(client.frames.map(({ id }) => id)).toEqual(['4-4-0', '5-5-0']);
    expect(codeOf(await ask('', { 'last-event-id': '5-5-0', accept: 'text/event-stream' }))).toBe('unknown_event_id');
    const anew = await open('?after=3-3-0');
    await received(anew, 3);
    expect(anew.frames.map(({ id }) => id)).toEqual(['4-44-0', '5-45-0', '6-46-0']);
  });

  it('refuses a header that is no id', async () => {
    await start();
    const answer = await ask('', { 'last-event-id': '1-1-0; DROP TABLE', accept: 'text/event-stream' });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_event_id']);
  });
});

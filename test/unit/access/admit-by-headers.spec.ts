import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Get, Global, Module, Post } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthConfig, ConfigModule, LockstepConfig, NodeConfig } from '../../../src/config/index.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import { Unauthenticated } from '../../../src/kernel/errors.js';
import { Identify } from '../../../src/modules/access/application/identify.js';
import { AccessGuard } from '../../../src/modules/access/infrastructure/http/access-guard.js';
import { AdmitByHeaders } from '../../../src/modules/access/infrastructure/http/admit-by-headers.js';
import { OpenRequests } from '../../../src/modules/access/infrastructure/http/open-requests.js';
import { createFastifyAdapter } from '../../../src/platform/http/fastify-server.js';
import { ForwardSignatures } from '../../../src/platform/http/forward-signatures.js';
import { HttpModule } from '../../../src/platform/http/http.module.js';
import { Open, Scope } from '../../../src/platform/http/scope.js';
import { Log } from '../../../src/platform/logging/log.js';
import { NestLogger } from '../../../src/platform/logging/nest-logger.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { until } from '../../support/until.js';

const BODY_LIMIT = 1_000_000;
const MB = 1024 * 1024;

@Controller('api/v1')
class ThingsController {
  @Post('things')
  @Scope('tx:write')
  make(@Body() body: object): object {
    return { fields: Object.keys(body).length };
  }

  @Get('thing')
  @Scope('tx:read')
  find(): object {
    return { found: true };
  }

  @Get('open')
  @Open()
  open(): object {
    return { open: true };
  }
}

@Controller('health')
class HealthController {
  @Get()
  @Open()
  health(): object {
    return { healthy: true };
  }
}

let app: NestFastifyApplication;
let socket: Socket;
let answer: string;
let asked: (string | null)[];
const forwarding = (id: string): ForwardSignatures =>
  new ForwardSignatures(Object.assign(new NodeConfig(), { forwardSecret: 's' }), { id }, new FakeClock());

async function start(role: NodeConfig['role'] = 'all'): Promise<void> {
  const identify = fakeOf(Identify, {
    execute: async (credential) => {
      asked.push(credential);
      if (credential !== 'right') throw new Unauthenticated('unauthenticated', 'no key', 'send one');
      return { caller: ANYONE, isLive: () => true };
    },
  });
  const config = Object.assign(new LockstepConfig(), { auth: new AuthConfig() });
  Object.assign(config.server, { bodyLimit: BODY_LIMIT, host: '127.0.0.1', port: 0 });
  config.node.role = role;
  const log = new RecordingLog();
  @Global()
  @Module({
    imports: [ConfigModule.register(config), HttpModule],
    controllers: [ThingsController, HealthController],
    providers: [
      { provide: Log, useValue: log },
      { provide: Metrics, useValue: new FakeMetrics() },
      { provide: Identify, useValue: identify },
      { provide: ForwardSignatures, useValue: forwarding('here') },
      { provide: OpenRequests, useValue: new OpenRequests(tickersWith(log), config.node) },
      { provide: APP_GUARD, useClass: AccessGuard },
      AdmitByHeaders,
    ],
    exports: [Log, Metrics],
  })
  class AppModule {}
  app = await NestFactory.create<NestFastifyApplication>(AppModule, createFastifyAdapter(config.server), {
    logger: new NestLogger(log),
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => (answer += text));
  socket.on('error', (error) => (answer += `broken: ${error.message}`));
}

async function stop(): Promise<void> {
  socket.destroy();
  await app.close();
}

beforeEach(async () => {
  [asked, answer] = [[], ''];
  await start();
});
afterEach(stop);

const post = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n');
const hasCome = (text: string): Promise<unknown> => until(text, async () => answer.includes(text));

it('who has no key is refused before the body has come, and the connection goes on with the next request', async () => {
  const length = BODY_LIMIT;
  socket.write(post('/api/v1/things', `Content-Length: ${length}`));
  await hasCome('"code":"unauthenticated"');
  expect(answer).toMatch(/^HTTP\/1.1 401 .*www-authenticate: Bearer/is);
  expect(answer).not.toMatch(/^connection: close/im);
  socket.write(`${'x'.repeat(length)}GET /api/v1/open HTTP/1.1\r\nHost: a\r\n\r\n`);
  await hasCome('{"open":true}');
  expect([asked, socket.closed]).toEqual([[null], false]);
});

it.each([
  ['of unknown length', 'Transfer-Encoding: chunked'],
  ['above the limit', `Content-Length: ${40 * MB}`],
])(
  'with a body %s as well: the answer is not lost while the client still sends, and the connection ends',
  async (_name, header) => {
    socket.write(post('/api/v1/things', header));
    await hasCome('"code":"unauthenticated"');
    expect(answer).toMatch(/^connection: close/im);
    const isChunked = header.startsWith('T');
    for (let sent = 0; sent < 40; sent += 1) {
      const part = 'x'.repeat(MB);
      const sending = new Promise((done) => socket.write(isChunked ? `100000\r\n${part}\r\n` : part, done));
      await sending;
    }
    if (isChunked) socket.write('0\r\n\r\n');
    await until('the connection is closed', async () => socket.closed);
    expect(answer).not.toContain('broken');
  },
);

it('nothing is read of a body for a path that does not exist', async () => {
  socket.write(post('/api/v1/nowhere', `Content-Length: ${BODY_LIMIT}`));
  await hasCome('"code":"route_not_found"');
  expect(answer).toMatch(/^HTTP\/1.1 404 /);
});

it.each(['/api/v1/things', '/api/v1/things?a=1', '/%61pi/v1/things', 'http://elsewhere/api/v1/things'])(
  'a node of role worker answers that it has no %s before the body has come, and asks for no key',
  async (path) => {
    await stop();
    await start('worker');
    socket.write(post(path, `Content-Length: ${BODY_LIMIT}`));
    await hasCome('this node has role worker and no API');
    expect([answer, asked]).toEqual([expect.stringMatching(/^HTTP\/1.1 404 /), []]);
  },
);

it('a node of role worker has all that is not below /api/', async () => {
  await stop();
  await start('worker');
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  await hasCome('{"healthy":true}');
});

it('a right key has its body read', async () => {
  socket.write(`${post('/api/v1/things', 'Authorization: Bearer right', 'Content-Length: 7')}{"a":1}`);
  await hasCome('{"fields":1}');
});

it('what another node forwards is refused by its headers, and by its body when that is another one', async () => {
  const headers = (body: string): string[] =>
    Object.entries(forwarding('there').headersOf({ to: 'here', path: '/api/v1/things', body, caller: ANYONE })).map(
      ([name, value]) => `${name}: ${value}`,
    );
  const wrong = headers('{"a":1}').map((line) => line.replace(/^(x-lockstep-forward-signature: ).*/, '$1aa'));
  socket.write(post('/api/v1/things', ...wrong, 'Content-Length: 7'));
  await hasCome('"code":"bad_forward_signature"');
  answer = '';
  socket.write(`{"a":1}${post('/api/v1/things', ...headers('{"a":2}'), 'Content-Length: 7')}{"a":1}`);
  await hasCome('its body is another one');
  socket.write(`${post('/api/v1/things', ...headers('{"a":1}'), 'Content-Length: 7')}{"a":1}`);
  await hasCome('{"fields":1}');
  expect(asked).toEqual([]);
});

it.each(['HEAD /api/v1/thing', 'GET /api/v1/%74hing', 'GET http://elsewhere/api/v1/thing'])(
  '%s is asked for a key like the route that it has',
  async (line) => {
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await hasCome('HTTP/1.1 401 ');
    expect(asked).toEqual([null]);
  },
);

it('a forwarded request without its body is refused as well', async () => {
  const headers = Object.entries(
    forwarding('there').headersOf({ to: 'here', path: '/api/v1/things', body: '{"a":1}', caller: ANYONE }),
  ).map(([name, value]) => `${name}: ${value}`);
  socket.write(post('/api/v1/things', ...headers, 'Content-Length: 0'));
  await hasCome('its body is another one');
});

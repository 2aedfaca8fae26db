import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ServerConfig } from '../../../src/config/index.js';
import { freePort } from '../../../src/dev/free-port.js';
import { WaitingRoom } from '../../../src/platform/http/waiting-room.js';
import { rawAnswer } from './raw-answer.js';

let room: WaitingRoom;
let config: ServerConfig;
let url: string;

beforeEach(async () => {
  config = Object.assign(new ServerConfig(), { host: '127.0.0.1', port: await freePort() });
  url = `http://127.0.0.1:${config.port}`;
  room = await WaitingRoom.open(config);
});
afterEach(() => room.close());

describe('before the service is there', () => {
  it('it is alive', async () => {
    const response = await fetch(`${url}/health/live`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it.each(['/health/ready', '/api/v1/tx', '/metrics'])('%s is a retryable 503', async (path) => {
    const response = await fetch(`${url}${path}`);
    expect([response.status, response.headers.get('retry-after'), response.headers.get('content-type')]).toEqual([
      503,
      '1',
      'application/problem+json; charset=utf-8',
    ]);
    expect(await response.json()).toMatchObject({ code: 'starting', retryable: true, instance: path });
  });

  it.each(['/health/live', '/health/ready'])('%s has the id of its request', async (path) => {
    const response = await fetch(`${url}${path}`, { headers: { 'x-request-id': 'trace-1' } });
    expect(response.headers.get('x-request-id')).toBe('trace-1');
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 503, 'starting'],
    ['an unknown Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 503, 'starting'],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
    ['no HTTP', 'what is this\r\n\r\n', 400, 'malformed_http'],
  ])('a request with %s is answered with a problem', async (_what, request, status, code) => {
    const [head = '', body = ''] = (await rawAnswer(config.port, request)).split('\r\n\r\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))).toMatchObject({ code });
  });

  it('the port is free again as soon as it is closed', async () => {
    await fetch(`${url}/health/live`);
    await room.close();
    room = await WaitingRoom.open(config);
  });
});

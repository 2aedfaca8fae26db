import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ServerConfig } from '../../../src/config/index.js';
import { freePort } from '../../../src/dev/free-port.js';
import { WaitingRoom } from '../../../src/platform/http/waiting-room.js';

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

  it('the port is free again as soon as it is closed', async () => {
    await fetch(`${url}/health/live`);
    await room.close();
    room = await WaitingRoom.open(config);
  });
});

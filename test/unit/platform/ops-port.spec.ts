import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ServerConfig } from '../../../src/config/index.js';
import { freePort } from '../../../src/dev/free-port.js';
import { WaitingRoom } from '../../../src/platform/http/waiting-room.js';
import { type HttpApp, send, startHttpApp } from './http-app.js';
import { rawAnswer } from './raw-answer.js';

let http: HttpApp;
let opsPort: number;

beforeAll(async () => {
  opsPort = await freePort();
  http = await startHttpApp(undefined, 2048, { host: '127.0.0.1', opsPort });
});
afterAll(() => http.app.close());

const answer = async (port: number, url: string): Promise<unknown[]> => {
  const { status, text } = await send(port, { url });
  return [status, status === 200 ? null : (JSON.parse(text) as { code: string }).code];
};
const [OK, NOT_HERE] = [
  [200, null],
  [404, 'route_not_found'],
];

describe('server.opsPort', () => {
  it('has the metrics, which the other port has not, however the path is written', async () => {
    expect(await answer(opsPort, '/metrics')).toEqual(OK);
    for (const path of ['/metrics', '/metric%73', '/metrics?x=1'])
      expect(await answer(http.port, path)).toEqual(NOT_HERE);
  });

  it('has no API, and no path that does not exist', async () => {
    expect(await answer(http.port, '/api/v1/things')).toEqual(OK);
    for (const path of ['/api/v1/things', '/docs', '/nowhere']) expect(await answer(opsPort, path)).toEqual(NOT_HERE);
    expect((await send(opsPort, { method: 'POST', url: '/api/v1/things', payload: {} })).status).toBe(404);
  });

  it('answers what is not HTTP with a problem, and closes with the service', async () => {
    expect(await rawAnswer(opsPort, 'what is this\r\n\r\n')).toContain('"code":"malformed_http"');
    const port = await freePort();
    const { app } = await startHttpApp(undefined, 2048, { host: '127.0.0.1', opsPort: port });
    expect(await answer(port, '/metrics')).toEqual(OK);
    await app.close();
    await expect(answer(port, '/metrics')).rejects.toThrow('ECONNREFUSED');
  });

  it('tells liveness while the service waits for its database', async () => {
    const [port, ops] = [await freePort(), await freePort()];
    const room = await WaitingRoom.open(Object.assign(new ServerConfig(), { host: '127.0.0.1', port, opsPort: ops }));
    expect(await answer(ops, '/health/live')).toEqual(OK);
    expect(await answer(ops, '/health/ready')).toEqual([503, 'starting']);
    await room.close();
    await expect(answer(ops, '/health/live')).rejects.toThrow('ECONNREFUSED');
  });
});

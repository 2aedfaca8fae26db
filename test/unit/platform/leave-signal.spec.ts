import { request } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { leaveSignal } from '../../../src/platform/http/leave-signal.js';
import { until } from '../../support/until.js';

let server: FastifyInstance;
afterEach(() => server.close());

/** @returns the signals of the requests, and the URL of a path whose answer waits for them */
async function listen(
  answer: (left: AbortSignal) => Promise<string>,
): Promise<{ url: string; signals: AbortSignal[] }> {
  const signals: AbortSignal[] = [];
  server = fastify();
  server.get('/', async (_request, reply) => {
    const left = leaveSignal(reply);
    signals.push(left);
    return answer(left);
  });
  return { url: await server.listen({ port: 0, host: '127.0.0.1' }), signals };
}

describe('the signal that a client has left', () => {
  it('comes when the connection is closed before the answer', async () => {
    const { url, signals } = await listen(
      (left) => new Promise((resolve) => left.addEventListener('abort', () => resolve('too late'))),
    );
    const client = request(url).on('error', () => undefined);
    client.end();
    await until('the request arrived', () => Promise.resolve(signals.length === 1));
    expect(signals[0]?.aborted).toBe(false);
    client.destroy();
    await until('the signal came', () => Promise.resolve(signals[0]?.aborted === true));
  });

  it('has come for a client that left before it was asked for', async () => {
    let left: AbortSignal | undefined;
    server = fastify();
    server.get('/', async (_request, reply) => {
      await until('the client has left', () => Promise.resolve(reply.raw.destroyed));
      left = leaveSignal(reply);
      return 'too late';
    });
    const client = request(await server.listen({ port: 0, host: '127.0.0.1' })).on('error', () => undefined);
    client.on('socket', (socket) => socket.on('connect', () => setTimeout(() => client.destroy(), 50)));
    client.end();
    await until('it was asked for', () => Promise.resolve(left !== undefined));
    expect(left?.aborted).toBe(true);
  });

  it('does not come for a client that got its answer', async () => {
    const { url, signals } = await listen(() => Promise.resolve('done'));
    expect(await (await fetch(url, { headers: { connection: 'close' } })).text()).toBe('done');
    await server.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });
});

import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type EndpointOptions,
  JsonRpcEndpoint,
} from '../../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import { insideTransaction } from '../../../src/platform/database/transaction-scope.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const calls = (count: number) => Array.from({ length: count }, (_, i) => ({ method: 'eth_echo', params: [i] }));

describe('a JSON-RPC endpoint', () => {
  let server: FakeRpcServer;
  const endpoints: JsonRpcEndpoint[] = [];

  const endpoint = (options: Partial<EndpointOptions> = {}) => {
    const made = new JsonRpcEndpoint({
      url: server.url,
      index: 0,
      timeoutMs: 1_000,
      batchSize: 100,
      batchBytes: 1_000_000,
      ...options,
    });
    endpoints.push(made);
    return made;
  };

  beforeEach(async () => {
    server = await new FakeRpcServer().start();
    server.answer = ({ params }) => ({ result: params[0] });
  });

  afterEach(async () => {
    await Promise.all(endpoints.splice(0).map((made) => made.close()));
    await server.stop();
  });

  it('gives each question its answer, whatever the order of the answers', async () => {
    const replies = await endpoint({ batchSize: 3 }).ask(calls(8));
    expect(replies).toEqual(calls(8).map((_, i) => ({ kind: 'result', value: i })));
    expect(server.bodies.length).toBe(3);
  });

  it('knows that what it is asked after its close never left, and that what was in flight may have arrived', async () => {
    const closed = endpoint();
    let arrived = (): void => undefined;
    const arrives = new Promise<void>((resolve) => (arrived = resolve));
    server.takeOver = () => (arrived(), true);
    const inFlight = closed.ask(calls(1));
    await arrives;
    await closed.close();
    expect(await inFlight).toMatchObject([{ kind: 'failed', failure: { mayHaveArrived: true } }]);
    expect(await closed.ask(calls(1))).toMatchObject([
      { kind: 'failed', failure: { reason: 'unreachable', mayHaveArrived: false } },
    ]);
  });

  it('answers a send while more estimates hang than it has connections, and takes the estimates in their order', async () => {
    const hanging: (() => void)[] = [];
    server.takeOver = ({ calls: [call], response }) => {
      if (call?.method !== 'eth_estimateGas') return false;
      hanging.push(() => response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: call.params[0] })));
      return true;
    };
    const one = endpoint({ timeoutMs: 60_000 });
    const estimates = Array.from({ length: 40 }, (_, n) => one.ask([{ method: 'eth_estimateGas', params: [n] }]));
    expect(await one.ask([{ method: 'eth_sendRawTransaction', params: ['sent'] }])).toEqual([
      { kind: 'result', value: 'sent' },
    ]);
    expect(hanging.length).toBeLessThanOrEqual(12);
    for (let ended = 0; ended < 40; ended += 1) {
      while (hanging.length === 0) await new Promise((resolve) => setImmediate(resolve));
      hanging.shift()?.();
    }
    expect(await Promise.all(estimates)).toEqual(estimates.map((_, n) => [{ kind: 'result', value: n }]));
  });

  it('sends a lone call without a batch, which not every node takes', async () => {
    await endpoint().ask(calls(1));
    expect(server.bodies[0]).toMatch(/^\{/);
  });

  it('keeps the node’s own words, code and data', async () => {
    server.answer = () => ({
      error: { code: -32003, message: 'nonce too low: next nonce 5, tx nonce 4', data: '0x01' },
    });
    expect(await endpoint().ask(calls(1))).toEqual([
      { kind: 'error', error: { code: -32003, message: 'nonce too low: next nonce 5, tx nonce 4', data: '0x01' } },
    ]);
  });

  it('says which items of a batch were not answered', async () => {
    server.answer = ({ params }) => (params[0] === 1 ? 'nothing' : { result: 'ok' });
    const replies = await endpoint().ask(calls(3));
    expect(replies.map((reply) => (reply.kind === 'failed' ? reply.failure.reason : reply.kind))).toEqual([
      'result',
      'call_silent',
      'result',
    ]);
  });

  it('does not take one error for a whole batch for a verdict on each item', async () => {
    server.takeOver = ({ response, isBatch }) => {
      if (!isBatch) return false;
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'insufficient funds' } }),
      );
      return true;
    };
    expect(await endpoint().ask(calls(2))).toEqual([0, 1].map((value) => ({ kind: 'result', value })));
  });

  it('does not split a batch that is refused for the state of the endpoint', async () => {
    server.takeOver = ({ response }) =>
      Boolean(response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { message: 'rate limit exceeded' } })));
    const [reply] = await endpoint().ask(calls(8));
    expect(reply).toMatchObject({ kind: 'failed', failure: { reason: 'malformed', mayHaveArrived: true } });
    expect(server.bodies).toHaveLength(1);
  });

  it.each([
    ['HTML', '<html>hello</html>'],
    ['nothing', ''],
    ['a number', '42'],
    ['neither result nor error', '{"jsonrpc":"2.0","id":1}'],
  ])('treats %s as no answer', async (_name, body) => {
    server.takeOver = ({ response }) => Boolean(response.end(body));
    expect(await endpoint().ask(calls(1))).toMatchObject([
      { kind: 'failed', failure: { reason: 'malformed', mayHaveArrived: true } },
    ]);
  });

  it('aborts a request that takes too long, and frees its connection', async () => {
    const aborted = new Promise<void>((resolve) => {
      server.takeOver = ({ request }) => {
        void once(request.socket, 'close').then(() => resolve());
        return true;
      };
    });
    const start = performance.now();
    const replies = await endpoint({ timeoutMs: 100 }).ask(calls(1));
    // The endpoint answers other calls.
    expect(replies).toMatchObject([{ kind: 'failed', failure: { reason: 'call_silent', mayHaveArrived: true } }]);
    expect(performance.now() - start).toBeLessThan(900);
    await aborted;
  });

  it('aborts an answer that stops in the middle', async () => {
    server.takeOver = ({ response }) => response.write('{"jsonrpc":"2.0",');
    const replies = await endpoint({ timeoutMs: 100 }).ask(calls(1));
    expect(replies).toMatchObject([{ kind: 'failed', failure: { reason: 'call_silent', mayHaveArrived: true } }]);
  });

  it('says that an endpoint that answers nothing at all timed out', async () => {
    server.hung = true;
    const replies = await endpoint({ timeoutMs: 100 }).ask(calls(1));
    expect(replies).toMatchObject([{ kind: 'failed', failure: { reason: 'timeout', mayHaveArrived: true } }]);
  });

  it('knows that a reset connection may have delivered the request', async () => {
    server.takeOver = ({ request }) => Boolean(request.socket.destroy());
    const replies = await endpoint().ask(calls(1));
    expect(replies).toMatchObject([{ kind: 'failed', failure: { reason: 'connection', mayHaveArrived: true } }]);
    expect(server.asked).toEqual(['eth_echo']);
  });

  it('sends smaller batches where a larger one costs the connection, and the chain is still the same', async () => {
    server.takeOver = ({ calls: some, request }) => some.length > 3 && Boolean(request.socket.destroy());
    server.answer = ({ method, params }) => ({ result: method === 'eth_chainId' ? '0x1' : params[0] });
    const made = endpoint();
    expect((await made.ask(calls(8))).map(({ kind }) => kind)).toContain('failed');
    await made.ask([{ method: 'eth_chainId', params: [] }]);
    expect(await made.ask(calls(8))).toEqual(calls(8).map((_, i) => ({ kind: 'result', value: i })));
  });

  it('knows that a refused connection delivered nothing', async () => {
    const gone = await new FakeRpcServer().start();
    const { url } = gone;
    await gone.stop();
    const replies = await endpoint({ url }).ask(calls(1));
    expect(replies).toMatchObject([{ kind: 'failed', failure: { reason: 'unreachable', mayHaveArrived: false } }]);
  });

  it.each([
    [502, 'http'],
    [500, 'http'],
    [302, 'http'],
    [404, 'http'],
    [429, 'rate_limited'],
  ])('an HTTP %d without JSON-RPC is a failure of kind %s', async (status, reason) => {
    server.takeOver = ({ response }) =>
      Boolean(response.writeHead(status, { 'retry-after': '7', location: '/' }).end('<h1>sorry</h1>'));
    expect(await endpoint().ask(calls(1))).toMatchObject([
      {
        kind: 'failed',
        failure: { reason, mayHaveArrived: true, retryAfterMs: 7_000, message: `HTTP ${status}: <h1>sorry</h1>` },
      },
    ]);
  });

  it('does not believe a 5xx about what the node did', async () => {
    server.takeOver = ({ calls: [call], response }) =>
      Boolean(response.writeHead(503).end(JSON.stringify({ id: call?.id, error: { message: 'insufficient funds' } })));
    expect(await endpoint().ask(calls(1))).toMatchObject([{ kind: 'failed', failure: { reason: 'http' } }]);
  });

  it('obeys a 429, whatever JSON-RPC its body has', async () => {
    server.takeOver = ({ calls: [call], response }) =>
      Boolean(
        response
          .writeHead(429, { 'retry-after': '1' })
          .end(JSON.stringify({ id: call?.id, error: { message: 'slow down' } })),
      );
    expect(await endpoint().ask(calls(1))).toMatchObject([
      { kind: 'failed', failure: { reason: 'rate_limited', retryAfterMs: 1_000 } },
    ]);
  });

  it('reads the node’s answer out of a 400', async () => {
    server.takeOver = ({ calls: [call], response }) =>
      Boolean(response.writeHead(400).end(JSON.stringify({ id: call?.id, error: { message: 'nonce too low' } })));
    expect(await endpoint().ask(calls(1))).toMatchObject([{ kind: 'error', error: { message: 'nonce too low' } }]);
  });

  it('asks in order, and stops when nothing at all is answered any more', async () => {
    server.takeOver = ({ calls: [call], response }) => {
      server.hung = call?.params[0] === 2;
      return server.hung && Boolean(response.writeHead(502).end());
    };
    const replies = await endpoint({ batchSize: 2, timeoutMs: 100 }).askInOrder(calls(6));
    expect(server.seen.flatMap(({ params }) => params)).toEqual([0, 1, 2, 3]);
    expect(replies.map((reply) => (reply.kind === 'failed' ? reply.failure.mayHaveArrived : reply.kind))).toEqual([
      'result',
      'result',
      true,
      true,
      false,
      false,
    ]);
  });

  it('never shows what is secret in a URL, also when the other side quotes it', async () => {
    const url = `http://alice:s3cretpass@127.0.0.1:${server.port}/v3/0123456789abcdef?apikey=topsecretkey`;
    const made = endpoint({ url });
    server.takeOver = ({ request, response }) => Boolean(response.writeHead(404).end(`Cannot POST ${request.url}`));
    expect(made.label).toBe(`#0 http://127.0.0.1:${server.port}`);
    const text = JSON.stringify(await made.ask(calls(1)));
    for (const secret of ['0123456789abcdef', 'topsecretkey', 's3cretpass']) expect(text).not.toContain(secret);
    expect(server.paths).toEqual(['/v3/0123456789abcdef?apikey=topsecretkey']);
    expect(server.authorizations).toEqual([`Basic ${Buffer.from('alice:s3cretpass').toString('base64')}`]);
  });

  it('refuses a broken URL without repeating it', () => {
    expect(() => endpoint({ url: 'http//rpc.example/key-0123456789' })).toThrow(
      expect.objectContaining({ code: 'invalid_rpc_url', message: expect.not.stringContaining('0123456789') }),
    );
  });

  it('is never called inside a database transaction', async () => {
    await expect(insideTransaction(() => endpoint().ask(calls(1)))).rejects.toThrow(
      'eth_echo was called inside a database transaction',
    );
    expect(server.seen).toEqual([]);
  });
});

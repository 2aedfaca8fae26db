import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseHash, parseHex } from '../../../src/kernel/hex.js';
import { BatchLimits } from '../../../src/modules/chain/infrastructure/rpc/batch-limits.js';
import { aConnector, type FixtureOptions } from './chain-fixture.js';
import { type Exchange, FakeRpcServer } from './fake-rpc-server.js';

const hashOf = (n: number) => parseHash(`0x${n.toString(16).padStart(64, '0')}`);
/** Transactions of so many bytes. */
const txs = (count: number, size = 10) =>
  Array.from({ length: count }, (_, n) => ({
    hash: hashOf(n),
    raw: parseHex(`0x${n.toString(16).padStart(4, '0')}${'11'.repeat(size)}`),
  }));
const accepted = (count: number) => Array.from({ length: count }, () => ({ kind: 'accepted' }));

describe('a batch that is refused as a whole', () => {
  let server: FakeRpcServer;
  const pools: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    server = await new FakeRpcServer().start();
    server.answer = ({ params }) => ({ result: hashOf(Number.parseInt(String(params[0]).slice(2, 6), 16)) });
  });

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    await server.stop();
  });

  const connect = (options: FixtureOptions = {}) => {
    const fixture = aConnector([server.url], options);
    pools.push(fixture.pool);
    return fixture;
  };

  const sendsSeen = () => server.seen.filter(({ method }) => method === 'eth_sendRawTransaction');

  /** Refuses requests with more calls than this. */
  const takesAtMost = (most: number, refuse: (exchange: Exchange) => void) => {
    server.takeOver = (exchange) => {
      if (exchange.calls.length <= most) return false;
      refuse(exchange);
      return true;
    };
  };

  it.each([
    [200, 'batch request timed out'],
    [504, 'batch timeout exceeded'],
    [502, 'bad gateway while the batch was forwarded'],
  ])(
    'is not what HTTP %d with "%s" says: what is sent again in halves, and refused then, may have been taken before',
    async (status, message) => {
      takesAtMost(1, ({ response }) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
      });
      server.answer = ({ params }) =>
        String(params[0]).startsWith('0x0001')
          ? { error: { message: 'insufficient funds' } }
          : { result: hashOf(Number.parseInt(String(params[0]).slice(2, 6), 16)) };
      const outcomes = await connect().connector.broadcast(txs(4));
      expect(outcomes).toMatchObject([
        { kind: 'accepted' },
        { kind: 'unknown', errorClass: 'insufficient_funds' },
        { kind: 'accepted' },
        { kind: 'accepted' },
      ]);
    },
  );

  it.each<[string, (exchange: Exchange) => void]>([
    ['a 413', ({ response }) => response.writeHead(413).end('content length too large')],
    [
      'one error object',
      ({ response }) => response.end(JSON.stringify({ id: null, error: { code: -32005, message: 'no' } })),
    ],
    [
      'the error that geth gives to the first call',
      ({ calls: [call], response }) =>
        response.end(JSON.stringify([{ id: call?.id, error: { code: -32600, message: 'batch too large' } }])),
    ],
    [
      'a provider’s own words, with a 500',
      ({ response }) =>
        response
          .writeHead(500)
          .end(JSON.stringify({ code: 31, message: 'Batch of more than 3 requests are not allowed on free tier' })),
    ],
  ])('by %s is halved until it is taken, in order', async (_words, refuse) => {
    takesAtMost(3, refuse);
    const { connector, pool } = connect();
    expect(await connector.broadcast(txs(20))).toEqual(accepted(20));
    const taken = server.bodies.filter((body) => body.startsWith('[') && JSON.parse(body).length <= 3);
    expect(taken.flatMap((body) => JSON.parse(body).map(({ params }: { params: [string] }) => params[0]))).toEqual(
      txs(20).map(({ raw }) => raw),
    );
    expect(pool.status()).toMatchObject([{ state: 'up', consecutiveFailures: 0 }]);
  });

  it('is not sent like that again: the limit is remembered', async () => {
    takesAtMost(3, ({ response }) => response.writeHead(413).end());
    const { connector } = connect();
    await connector.broadcast(txs(20));
    const before = server.bodies.length;
    expect(await connector.broadcast(txs(20))).toEqual(accepted(20));
    expect(server.bodies.length - before).toBeLessThanOrEqual(10);
    expect(sendsSeen().length).toBeGreaterThan(40);
  });

  it('does not happen for bytes: batches are cut by bytes, too', async () => {
    const { connector } = connect({ batchBytes: 100_000 });
    expect(await connector.broadcast(txs(64, 20_000))).toEqual(accepted(64));
    expect(Math.max(...server.bodies.map((body) => body.length))).toBeLessThan(110_000);
  });

  it('with one transaction is a refusal by this endpoint, and not for ever unknown', async () => {
    server.takeOver = ({ response }) => Boolean(response.writeHead(413).end('content length too large'));
    const { connector, pool } = connect();
    expect(await connector.broadcast(txs(1))).toMatchObject([{ kind: 'rejected', errorClass: 'oversized_data' }]);
    expect(pool.status()).toMatchObject([{ state: 'up', consecutiveFailures: 0 }]);
  });
});

describe('what one endpoint takes in one request', () => {
  const call = (id: number, length = 10) => ({ id, text: 'x'.repeat(length) });
  const batch = (count: number, length = 10) => Array.from({ length: count }, (_, id) => call(id, length));
  const sizes = (limits: BatchLimits, count = 10) => limits.slices(batch(count)).map(({ length }) => length);

  it('is at most the config, in calls and in bytes; a larger call goes by itself', () => {
    expect(sizes(new BatchLimits({ calls: 4, bytes: 1_000 }))).toEqual([4, 4, 2]);
    const limits = new BatchLimits({ calls: 100, bytes: 25 });
    expect(sizes(limits, 5)).toEqual([2, 2, 1]);
    expect(limits.slices([call(1), call(2, 90), call(3)]).map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  it('is half of what was refused, and more again after a long time without a refusal', () => {
    const limits = new BatchLimits({ calls: 8, bytes: 1_000 });
    limits.refused(batch(8), false);
    expect(sizes(limits)).toEqual([4, 4, 2]);
    for (let n = 0; n < 1_000; n += 1) limits.accepted(batch(4));
    expect(sizes(limits)).toEqual([8, 2]);
  });
});

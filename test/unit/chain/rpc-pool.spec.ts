import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { insideTransaction } from '../../../src/platform/database/transaction-scope.js';
import { aConnector, type FixtureOptions } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const ACCOUNT = '0x00000000000000000000000000000000000000aa';
const READ = [{ method: 'eth_getBalance', params: [ACCOUNT, 'latest'] }];

describe('the RPC pool of a chain', () => {
  let a: FakeRpcServer;
  let b: FakeRpcServer;
  const open: { close(): Promise<void> }[] = [];

  const thePool = (options: FixtureOptions = {}, urls = [a.url, b.url]) => {
    const fixture = aConnector(urls, options);
    open.push(fixture.pool);
    return fixture;
  };

  beforeEach(async () => {
    a = await new FakeRpcServer().start();
    b = await new FakeRpcServer().start();
    a.answer = () => ({ result: '0xa' });
    b.answer = () => ({ result: '0xb' });
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await Promise.all([a.stop(), b.stop()]);
  });

  it('asks the first endpoint of the config as long as it is well', async () => {
    const { pool } = thePool();
    for (let i = 0; i < 3; i++) expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xa' }]);
    expect(b.asked).toEqual([]);
  });

  it.each<[string, (server: FakeRpcServer) => void]>([
    ['a 502', (server) => (server.takeOver = ({ response }) => Boolean(response.writeHead(502).end()))],
    ['a reset', (server) => (server.takeOver = ({ request }) => Boolean(request.socket.destroy()))],
    ['a time-out', (server) => (server.takeOver = () => true)],
    ['a 429', (server) => (server.takeOver = ({ response }) => Boolean(response.writeHead(429).end()))],
    [
      'a rate limit in words',
      (server) => (server.answer = () => ({ error: { code: -32005, message: 'project ID request rate exceeded' } })),
    ],
    [
      'a node that is not ready',
      (server) => (server.answer = () => ({ error: { message: 'transaction indexing is in progress' } })),
    ],
    [
      'a method it does not have',
      (server) => (server.answer = () => ({ error: { code: -32601, message: 'Method not found' } })),
    ],
  ])('fails over after %s', async (_name, spoil) => {
    spoil(a);
    const { pool } = thePool({ timeoutMs: 200 });
    expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xb' }]);
  });

  it('asks the next endpoint only for what the first did not answer', async () => {
    a.answer = ({ params }) => (params[0] === 1 ? 'nothing' : { result: 'a' });
    b.answer = () => ({ result: 'b' });
    const { pool } = thePool();
    const replies = await pool.read([0, 1, 2].map((n) => ({ method: 'eth_echo', params: [n] })));
    expect(replies).toMatchObject(['a', 'b', 'a'].map((value) => ({ kind: 'result', value })));
    expect(b.asked).toHaveLength(1);
  });

  it('does not shop around for another verdict', async () => {
    a.answer = () => ({ error: { code: 3, message: 'execution reverted' } });
    expect(await thePool().pool.read(READ)).toMatchObject([{ kind: 'error' }]);
    expect(b.asked).toEqual([]);
  });

  it('never uses an endpoint of another chain, and shows it', async () => {
    a.chainId = 1;
    const { pool, log } = thePool();
    expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xb' }]);
    await Promise.all(await pool.sendToAll(READ));
    expect(a.asked).toEqual([]);
    expect(pool.status()).toMatchObject([{ state: 'wrong_chain', reportedChainId: 1 }, { state: 'up' }]);
    expect(log.lines).toContainEqual({
      event: 'rpc endpoint serves another chain and is not used',
      fields: { chainId: 1337, endpoint: `#0 http://127.0.0.1:${a.port}`, reported: 1 },
    });
  });

  it('takes it back once it serves the right chain', async () => {
    a.chainId = 1;
    const { pool, clock } = thePool({}, [a.url]);
    expect(await pool.read(READ)).toMatchObject([{ kind: 'failed', failure: { mayHaveArrived: false } }]);
    a.chainId = 1337;
    expect(await pool.read(READ)).toMatchObject([{ kind: 'failed' }]);
    clock.advance(31_000);
    expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xa' }]);
  });

  it('asks for the chain id again when an endpoint comes back', async () => {
    const { pool } = thePool();
    await pool.read(READ);
    a.takeOver = ({ request }) => Boolean(request.socket.destroy());
    await pool.read(READ);
    a.takeOver = () => false;
    a.chainId = 1;
    await Promise.all(await pool.sendToAll(READ));
    expect(pool.status()[0]).toMatchObject({ state: 'wrong_chain' });
    expect(a.asked).toHaveLength(2);
  });

  it('verifies once, however many ask at the same time', async () => {
    const { pool } = thePool({}, [a.url]);
    await Promise.all(Array.from({ length: 20 }, () => pool.read(READ)));
    expect(a.seen.filter(({ method }) => method === 'eth_chainId')).toHaveLength(1);
  });

  it('asks the only endpoint again after a reset: its keep-alive may just have ended', async () => {
    let resets = 1;
    a.takeOver = ({ request }) => resets-- > 0 && Boolean(request.socket.destroy());
    expect(await thePool({}, [a.url]).pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xa' }]);
  });

  it('reads nothing from an endpoint that fails again and again', async () => {
    a.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool, clock } = thePool();
    for (let i = 0; i < 3; i++) await Promise.all(await pool.sendToAll(READ));
    expect(pool.status()[0]).toMatchObject({ state: 'backing_off', consecutiveFailures: 3 });
    const before = a.asked.length;
    await pool.read(READ);
    expect(a.asked).toHaveLength(before);
    clock.advance(1_000);
    a.takeOver = () => false;
    await Promise.all(await pool.sendToAll(READ));
    expect(pool.status()[0]).toMatchObject({ state: 'up', consecutiveFailures: 0 });
  });

  it('sends to one in back-off, too, one send at a time, and does not wait for it as for the others', async () => {
    a.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool, clock } = thePool({ timeoutMs: 60_000 });
    clock.hold();
    for (let i = 0; i < 4; i++) await Promise.all(await pool.sendToAll(READ));
    expect(pool.status()[0]).toMatchObject({ state: 'backing_off' });
    a.takeOver = () => true;
    const [fromA, fromB] = await Promise.all(await pool.sendToAll(READ));
    expect(fromA).toMatchObject([{ kind: 'failed', failure: { reason: 'timeout', mayHaveArrived: true } }]);
    expect(fromB).toMatchObject([{ kind: 'result', value: '0xb' }]);
    expect(await pool.sendToAll(READ)).toHaveLength(1);
  });

  it('sends to all when all are in back-off', async () => {
    for (const server of [a, b]) server.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool, clock } = thePool();
    clock.hold();
    for (let i = 0; i < 4; i++) await Promise.all(await pool.sendToAll(READ));
    expect(pool.status()).toMatchObject([{ state: 'backing_off' }, { state: 'backing_off' }]);
    for (const server of [a, b]) server.takeOver = () => false;
    expect(await Promise.all(await pool.sendToAll(READ))).toMatchObject([[{ kind: 'result' }], [{ kind: 'result' }]]);
  });

  it.each([
    ['are all well', 0],
    ['are all in back-off', 4],
  ])('sends again to those that have not answered the send before, when they %s', async (_words, failures) => {
    for (const server of [a, b]) server.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool, clock } = thePool({ timeoutMs: 60_000 });
    clock.hold();
    for (let i = 0; i < failures; i++) await Promise.all(await pool.sendToAll(READ));
    for (const server of [a, b]) server.takeOver = () => true;
    expect(await pool.sendToAll(READ)).toHaveLength(2);
    expect(await pool.sendToAll(READ)).toHaveLength(2);
  });

  it('does not send to one that asked to be left alone, while there is another, until that time is over', async () => {
    a.takeOver = ({ response }) => Boolean(response.writeHead(429, { 'retry-after': '30' }).end());
    const { pool, clock } = thePool();
    await Promise.all(await pool.sendToAll(READ));
    const before = a.asked.length;
    expect(await Promise.all(await pool.sendToAll(READ))).toMatchObject([[{ kind: 'result', value: '0xb' }]]);
    expect(a.asked).toHaveLength(before);
    clock.advance(30_000);
    expect(await pool.sendToAll(READ)).toHaveLength(2);
  });

  it('honours Retry-After, also when there is no other endpoint', async () => {
    let refusals = 1;
    a.takeOver = ({ response }) => refusals-- > 0 && Boolean(response.writeHead(429, { 'retry-after': '0.3' }).end());
    const { pool } = thePool({}, [a.url]);
    const start = performance.now();
    expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xa' }]);
    expect(performance.now() - start).toBeGreaterThan(250);
  });

  it('goes on asking one that refuses nine of ten, for as long as a read may take', async () => {
    let requests = 0;
    a.takeOver = ({ response }) => ++requests % 10 !== 0 && Boolean(response.writeHead(429).end());
    const { pool } = thePool({ maxWaitMs: 60_000 }, [a.url]);
    expect(await pool.read(READ)).toMatchObject([{ kind: 'result', value: '0xa' }]);
    expect(requests).toBe(10);
  });

  it('asks nobody when the only endpoint wants more patience than the caller has', async () => {
    a.takeOver = ({ response }) => Boolean(response.writeHead(429, { 'retry-after': '60' }).end());
    const { pool } = thePool({}, [a.url]);
    await pool.read(READ);
    const before = a.seen.length;
    expect(await pool.read(READ)).toMatchObject([
      { kind: 'failed', failure: { reason: 'unreachable', mayHaveArrived: false } },
    ]);
    expect(a.seen).toHaveLength(before);
  });

  it('counts calls by method and result, without naming endpoints', async () => {
    const { pool, metrics } = thePool();
    await pool.read([...READ, ...READ]);
    const lines = await metrics.lines('rpc_');
    expect(lines).toContain('rpc_requests_total{chain="1337",method="eth_getBalance",result="ok"} 2');
    expect(lines).toContain('rpc_seconds_count{chain="1337",method="eth_getBalance"} 1');
    expect(lines.join()).not.toContain('127.0.0.1');
  });

  it('is never used inside a database transaction, and does not take that for a failing endpoint', async () => {
    const { pool } = thePool();
    await expect(insideTransaction(() => pool.read(READ))).rejects.toMatchObject({ name: 'InvariantViolation' });
    await expect(insideTransaction(() => pool.sendToAll(READ))).rejects.toMatchObject({ name: 'InvariantViolation' });
    expect(pool.status()).toMatchObject([{ consecutiveFailures: 0 }, { consecutiveFailures: 0 }]);
  });
});

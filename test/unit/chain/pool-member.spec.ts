import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseAddress } from '../../../src/kernel/hex.js';
import { aConnector, type FixtureOptions } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const ACCOUNT = parseAddress('0x00000000000000000000000000000000000000aa');
const THREE = [1, 2, 3].map((n) => ({ method: 'eth_echo', params: [n] }));

describe('an endpoint of a pool', () => {
  let node: FakeRpcServer;
  let other: FakeRpcServer;
  const open: { close(): Promise<void> }[] = [];

  const connected = (urls: readonly string[], options: FixtureOptions = {}) => {
    const fixture = aConnector(urls, options);
    open.push(fixture.pool);
    fixture.clock.hold();
    return fixture;
  };
  const refuses = (server: FakeRpcServer, retryAfter: string): void => {
    server.takeOver = ({ response }) => Boolean(response.writeHead(429, { 'retry-after': retryAfter }).end());
  };

  beforeEach(async () => {
    [node, other] = await Promise.all([new FakeRpcServer().start(), new FakeRpcServer().start()]);
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await Promise.all([node.stop(), other.stop()]);
  });

  it('is sent one batch after the other, and nothing after one without an answer', async () => {
    node.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool } = connected([node.url], { batchSize: 1 });
    await Promise.all(await pool.sendToAll(THREE));
    expect(node.asked).toHaveLength(1);
  });

  it('is sent what follows a batch of which only one call got no answer', async () => {
    node.answer = ({ params: [n] }) => (n === 1 ? 'nothing' : { result: n });
    const { pool } = connected([node.url], { batchSize: 2 });
    const [replies] = await Promise.all(await pool.sendToAll(THREE));
    expect(replies?.map(({ kind }) => kind)).toEqual(['failed', 'result', 'result']);
  });

  it('is read from in batches side by side', async () => {
    node.takeOver = ({ response }) => Boolean(response.writeHead(502).end());
    const { pool } = connected([node.url], { batchSize: 1 });
    await pool.read(THREE);
    expect(node.asked).toHaveLength(3);
  });

  it('is left alone when it refuses a whole batch for the rate, with one error', async () => {
    const limit = JSON.stringify({ jsonrpc: '2.0', id: null, error: { message: 'rate limit exceeded' } });
    node.takeOver = ({ response }) => Boolean(response.end(limit));
    const { pool } = connected([node.url, other.url]);
    await pool.read(THREE);
    expect(pool.status()).toMatchObject([{ state: 'backing_off' }, { state: 'up' }]);
  });

  it('is not taken for one of another chain when it does not tell its chain', async () => {
    node.chainId = Number.NaN;
    const { pool } = connected([node.url]);
    await pool.read(THREE);
    expect(pool.status()).toMatchObject([{ state: 'unverified', lastError: 'no valid answer to eth_chainId' }]);
    expect(node.asked).toEqual([]);
  });

  it('that is back soonest is asked when all are away, whatever its place', async () => {
    refuses(node, '30');
    refuses(other, '0.25');
    const { pool, clock } = connected([node.url, other.url], { maxWaitMs: 1_000 });
    await Promise.all(await pool.sendToAll(THREE));
    other.takeOver = () => false;
    clock.advance(249);
    expect(await pool.read(THREE)).toMatchObject([{ kind: 'result' }, { kind: 'result' }, { kind: 'result' }]);
  });

  it('that answers with an error page in JSON has failed', async () => {
    node.takeOver = ({ response }) => Boolean(response.writeHead(404).end('{"message":"no such route"}'));
    const { pool } = connected([node.url]);
    expect(await pool.read(THREE.slice(0, 1))).toMatchObject([{ kind: 'failed', failure: { reason: 'http' } }]);
  });

  it('is asked for blocks without their transactions, and for counts as of the tag that was wanted', async () => {
    const { connector } = connected([node.url]);
    await connector.blocks([7, 8]);
    node.answer = () => ({ result: '0x5' });
    expect(await connector.transactionCounts([ACCOUNT], 'pending')).toEqual([5n]);
    expect(node.seen.slice(-3).map(({ params }) => params)).toEqual([
      ['0x7', false],
      ['0x8', false],
      [ACCOUNT, 'pending'],
    ]);
  });
});

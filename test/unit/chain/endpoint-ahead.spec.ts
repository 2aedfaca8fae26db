import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseAddress, parseHash, parseHex } from '../../../src/kernel/hex.js';
import { until } from '../../support/until.js';
import { aConnector } from './chain-fixture.js';
import { type FakeAnswer, FakeRpcServer, type RpcCall } from './fake-rpc-server.js';

const ACCOUNT = parseAddress(`0x${'11'.repeat(20)}`);
const TX = { hash: parseHash(`0x${'ab'.repeat(32)}`), raw: parseHex('0x01') };
const MAD = 0xffffff;

describe('an endpoint that tells a head far ahead', () => {
  const servers: FakeRpcServer[] = [];
  const pools: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    for (const [head, count] of [
      [100, 5],
      [100, 5],
      [MAD, 99],
    ] as const) {
      const server = await new FakeRpcServer().start();
      server.head = head;
      server.answer = answers(head, count);
      servers.push(server);
    }
  });

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  const connect = (among: readonly FakeRpcServer[] = servers) => {
    const fixture = aConnector(among.map(({ url }) => url));
    pools.push(fixture.pool);
    return fixture;
  };

  it.each([
    ['last', [0, 1, 2]],
    ['first', [2, 0, 1]],
    ['with one other', [2, 0]],
  ])('captures neither heads nor counts, in the config: %s', async (_place, order) => {
    const { connector, pool, clock } = connect(order.flatMap((index) => servers[index] ?? []));
    for (let look = 0; look < 3; look += 1) {
      expect(await connector.transactionCounts([ACCOUNT], 'latest')).toEqual([5n]);
      expect(await connector.head()).toMatchObject({ number: 100 });
      clock.advance(1_100);
    }
    expect(pool.status()[order.indexOf(2)]).toMatchObject({ state: 'ahead', lagBlocks: 100 - MAD });
    expect(pool.status()[order.indexOf(0)]).toMatchObject({ state: 'up', lagBlocks: 0 });
  });

  it('does not keep sends from the others', async () => {
    const { connector } = connect();
    expect(await connector.broadcast([TX])).toEqual([{ kind: 'accepted' }]);
    await until('every endpoint was sent the transaction', async () =>
      servers.every(({ asked }) => asked.includes('eth_sendRawTransaction')),
    );
  });

  it('is better than nobody', async () => {
    const { connector, pool } = connect();
    await connector.head();
    for (const server of servers.splice(0, 2)) await server.stop();
    await until('the one that is ahead is asked', async () => {
      const { number } = await connector.head().catch(() => ({ number: 0 }));
      return number === MAD;
    });
    expect(pool.status()[2]).toMatchObject({ state: 'ahead' });
  });
});

function answers(head: number, count: number): (call: RpcCall) => FakeAnswer {
  return ({ method }) => {
    if (method === 'eth_getTransactionCount') return { result: `0x${count.toString(16)}` };
    if (method === 'eth_sendRawTransaction') return { result: TX.hash };
    const hash = `0x${head.toString(16).padStart(64, '0')}`;
    return { result: { number: `0x${head.toString(16)}`, hash, parentHash: hash, timestamp: '0x1' } };
  };
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../support/until.js';
import { aConnector } from './chain-fixture.js';
import { FakeRpcServer } from './fake-rpc-server.js';

const READ = [{ method: 'eth_getBalance', params: ['0x00000000000000000000000000000000000000aa', 'latest'] }];
const FROM_A = [{ kind: 'result', value: '0xa' }];
const FROM_B = [{ kind: 'result', value: '0xb' }];
const MAX_LAG = 5;
/** Beyond the interval of comparisons. */
const LATER_MS = 1_100;

type Fixture = ReturnType<typeof aConnector>;

describe('an endpoint that lags', () => {
  let a: FakeRpcServer;
  let b: FakeRpcServer;
  const open: Fixture['pool'][] = [];

  const thePool = (timeoutMs = 5_000): Fixture => {
    const fixture = aConnector([a.url, b.url], { maxLag: MAX_LAG, timeoutMs });
    open.push(fixture.pool);
    return fixture;
  };

  /** Reads until the comparison that a read sets off has told what is expected. */
  const untilState = async ({ pool, clock }: Fixture, state: string): Promise<void> => {
    clock.advance(LATER_MS);
    await until(`the first endpoint is ${state}`, async () => {
      await pool.read(READ);
      return pool.status()[0]?.state === state;
    });
  };

  beforeEach(async () => {
    [a, b] = await Promise.all([new FakeRpcServer().start(), new FakeRpcServer().start()]);
    a.answer = () => ({ result: '0xa' });
    b.answer = () => ({ result: '0xb' });
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((pool) => pool.close()));
    await Promise.all([a.stop(), b.stop()]);
  });

  it('is found out before the very first read, and not read from', async () => {
    a.head = b.head - MAX_LAG - 1;
    const { pool } = thePool();
    expect(await pool.read(READ)).toMatchObject(FROM_B);
    expect(a.asked).toEqual([]);
    expect(pool.status()).toMatchObject([
      { state: 'lagging', lagBlocks: MAX_LAG + 1 },
      { state: 'up', lagBlocks: 0 },
    ]);
  });

  it('is sent to all the same: what is behind may still have the way to a block', async () => {
    a.head = b.head - 500;
    const { pool } = thePool();
    await pool.read(READ);
    expect(await Promise.all(await pool.sendToAll(READ))).toMatchObject([FROM_A, FROM_B]);
  });

  it('may be as far behind as configured', async () => {
    a.head = b.head - MAX_LAG;
    const { pool } = thePool();
    expect(await pool.read(READ)).toMatchObject(FROM_A);
    expect(pool.status()).toMatchObject([
      { state: 'up', lagBlocks: MAX_LAG },
      { state: 'up', lagBlocks: 0 },
    ]);
  });

  it('is noticed when it falls behind later, and comes back when it has caught up', async () => {
    const fixture = thePool();
    expect(await fixture.pool.read(READ)).toMatchObject(FROM_A);
    b.head += 50;
    await untilState(fixture, 'lagging');
    expect(await fixture.pool.read(READ)).toMatchObject(FROM_B);
    a.head = b.head;
    await untilState(fixture, 'up');
    expect(await fixture.pool.read(READ)).toMatchObject(FROM_A);
  });

  it('is used when the other one is away', async () => {
    a.head = b.head - 50;
    const { pool } = thePool();
    expect(await pool.read(READ)).toMatchObject(FROM_B);
    await b.stop();
    // The first refused connection makes the other one unknown; from then on the one that lags is better than nobody.
    await pool.read(READ);
    expect(await pool.read(READ)).toMatchObject(FROM_A);
    expect(pool.status()).toMatchObject([{ state: 'lagging', lagBlocks: 50 }, {}]);
  });

  it('is not measured against an endpoint of another chain', async () => {
    b.chainId = 1;
    b.head = a.head + 1_000_000;
    const { pool } = thePool();
    expect(await pool.read(READ)).toMatchObject(FROM_A);
    expect(pool.status()).toMatchObject([
      { state: 'up', lagBlocks: 0 },
      { state: 'wrong_chain', lagBlocks: null },
    ]);
  });

  it('is compared at most once a second, however much is read', async () => {
    const fixture = thePool();
    fixture.clock.hold();
    for (let i = 0; i < 20; i++) await fixture.pool.read(READ);
    const comparisons = () => b.seen.filter(({ method }) => method === 'eth_blockNumber').length;
    expect(comparisons()).toBe(1);
    fixture.clock.advance(LATER_MS);
    await until('the heads were compared again', async () => {
      await fixture.pool.read(READ);
      return comparisons() === 2;
    });
  });

  it('costs nothing where there is only one endpoint', async () => {
    const { pool } = aConnector([a.url]);
    open.push(pool);
    await pool.read(READ);
    expect(a.seen.map(({ method }) => method)).toEqual(['eth_chainId', 'eth_getBalance']);
    expect(pool.status()).toMatchObject([{ state: 'up', lagBlocks: null }]);
  });

  it('does not have anybody wait for one that is hung, wherever it stands in the config', async () => {
    a.hung = true;
    const { pool, clock } = thePool(60_000);
    // Nothing here ends by a time-out: with one of a minute, waiting for the hung one would end the test first.
    for (let i = 0; i < 5; i++) {
      expect(await pool.read(READ)).toMatchObject(FROM_B);
      clock.advance(LATER_MS);
    }
    expect(a.seen.map(({ method }) => method)).toEqual(['eth_chainId']);
  });
});

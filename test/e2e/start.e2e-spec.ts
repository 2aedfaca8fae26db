import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../../src/dev/free-port.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

let anvil: RunningAnvil;
let database: TestDatabase;
let wire: TcpProxy;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ blockTime: 0.3 }), createTestDatabase()]);
  wire = await TcpProxy.listen(database.url);
});
afterAll(async () => {
  await wire.stop();
  await Promise.all([anvil.stop(), database.drop()]);
});

describe('a service whose database is away', () => {
  it('at start waits for it, alive and not ready, and serves when it is there', async () => {
    wire.set('cut');
    const port = await freePort();
    const starting = Service.start({ databaseUrl: wire.url, rpcUrl: anvil.url, port });
    const status = async (path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null))?.status ?? 0;
    await until('it answers', async () => (await status('/health/live')) === 200);
    expect(await status('/health/ready')).toBe(503);
    wire.heal();
    const service = await starting;
    expect(service.logged('waiting for the database')).not.toEqual([]);
    expect(await service.stop()).toBe(0);
  });

  it('later answers /metrics at once, with what it knew and a count of what it could not read', async () => {
    const service = await Service.start({ databaseUrl: wire.url, rpcUrl: anvil.url });
    const metrics = async (): Promise<string> => String((await service.get('/metrics', 5_000)).body['text']);
    await until('the signers were read', async () => (await metrics()).includes('signer_backlog{'));
    wire.set('cut');
    await until('it is not ready', async () => (await service.get('/health/ready')).status === 503);
    const errors = /^signer_scrape_errors_total [1-9]/m;
    await until('a failed look is counted', async () => errors.test(await metrics()));
    expect(await metrics()).toContain('signer_backlog{');
    wire.heal();
    await until('it is ready again', async () => (await service.get('/health/ready')).status === 200);
    expect(await service.stop()).toBe(0);
  });
});

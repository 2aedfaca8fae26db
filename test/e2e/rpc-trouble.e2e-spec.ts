import { afterEach, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS, DEV_CHAIN_ID, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import { RpcFront } from '../support/rpc-front.js';
import { Service } from '../support/service.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function anAnvil(chainId = DEV_CHAIN_ID): Promise<RunningAnvil> {
  const anvil = await startAnvil({ blockTime: 0.3, chainId });
  cleanUps.push(() => anvil.kill());
  return anvil;
}

async function aFront(target: string, rules: RpcFront['rules']): Promise<RpcFront> {
  const front = await RpcFront.listen(target, rules);
  cleanUps.push(() => front.stop());
  return front;
}

/** One node on an anvil that is there already, by way of these endpoints. */
async function oneNode(anvil: RunningAnvil, rpcUrls: readonly string[], chain: object = {}): Promise<Cluster> {
  const cluster = await Cluster.start({ nodes: 1, rpcUrl: anvil.url, chain: { rpcUrls, ...chain } });
  cleanUps.push(() => cluster.stop());
  return cluster;
}

async function metricsOf(service: Service): Promise<string> {
  return String((await service.get('/metrics')).body['text']);
}

const LAG = 50;
const OTHER_CHAIN = 4242;

describe('of two endpoints', () => {
  it('one that is 50 blocks behind is sent to and not read from, and is named', async () => {
    const anvil = await anAnvil();
    await callRpc(anvil.url, 'anvil_mine', ['0x64']);
    const old = await aFront(anvil.url, { lag: LAG });
    const cluster = await oneNode(anvil, [old.url, anvil.url]);
    await cluster.createMany(DEV_ACCOUNTS.slice(0, 3), 'lag', 30);
    await cluster.expectExactlyOnce();

    // It is a witness of what cannot be undone, such as fees and blocks that become final, and of nothing else.
    expect(old.calls.get('eth_sendRawTransaction')).toBeGreaterThanOrEqual(30);
    const reads = ['eth_getBlockReceipts', 'eth_getTransactionReceipt', 'eth_getBalance'];
    expect([...old.calls].filter(([method]) => reads.includes(method))).toEqual([]);
    const { service } = cluster.node(0);
    expect(service.logged('reorg')).toEqual([]);
    await expectReadyWith(service, [
      { endpoint: `#0 ${old.url}`, state: 'lagging', lagBlocks: expect.any(Number) },
      { endpoint: `#1 ${anvil.url}`, state: 'up' },
    ]);
    const metrics = await metricsOf(service);
    expect(metrics).toContain(`rpc_endpoint_up{chain="${DEV_CHAIN_ID}",endpoint="#0 ${old.url}"} 0`);
    expect(metrics).toContain(`rpc_endpoint_up{chain="${DEV_CHAIN_ID}",endpoint="#1 ${anvil.url}"} 1`);
    // A block may come between the two answers.
    expect(metrics).toMatch(/rpc_endpoint_lag_blocks\{chain="\d+",endpoint="#0 [^"]+"\} (49|50|51)\n/);
  });

  it('one on another chain is never used, and is named', async () => {
    const [anvil, other] = await Promise.all([anAnvil(), anAnvil(OTHER_CHAIN)]);
    const wrong = await aFront(other.url, {});
    const cluster = await oneNode(anvil, [wrong.url, anvil.url]);
    await cluster.createMany(DEV_ACCOUNTS.slice(0, 3), 'wrong', 30);
    await cluster.expectExactlyOnce();

    expect([...wrong.calls.keys()]).toEqual(['eth_chainId']);
    const { service } = cluster.node(0);
    await expectReadyWith(service, [
      {
        endpoint: `#0 ${wrong.url}`,
        state: 'wrong_chain',
        reportedChainId: OTHER_CHAIN,
        lastError: `serves chain ${OTHER_CHAIN}`,
      },
      { endpoint: `#1 ${anvil.url}`, state: 'up' },
    ]);
    expect(await metricsOf(service)).toContain(`rpc_endpoint_up{chain="${DEV_CHAIN_ID}",endpoint="#0 ${wrong.url}"} 0`);
  });
});

describe('of two chains in one process', () => {
  /*
   * The hung chain's calls would time out after ten minutes. That none did by the end shows that nothing of the other chain
   * waited for one, however slow this machine is.
   */
  it('one that hangs does not hold up the other', async () => {
    const [anvil, hanging, database] = await Promise.all([anAnvil(), anAnvil(OTHER_CHAIN), createTestDatabase()]);
    cleanUps.push(() => database.drop());
    const wire = await TcpProxy.listen(hanging.url);
    cleanUps.push(() => wire.stop());
    const signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 2 }];
    const service = await Service.start({
      databaseUrl: database.url,
      rpcUrl: anvil.url,
      moreChains: [{ id: OTHER_CHAIN, rpcUrls: [wire.url], rpcTimeout: '10m', pollInterval: '100ms', signers }],
    });
    cleanUps.push(() => service.stop());
    const signer = DEV_ACCOUNTS[0];
    const create = async (chainId: number, requestId: string): Promise<string> => {
      const payload = { to: DEV_ACCOUNTS[1], value: '1' };
      const { status, body } = await service.post('/api/v1/tx', { chainId, signer, requestId, payload });
      expect(status).toBe(202);
      return String(body['txId']);
    };
    const state = async (txId: string): Promise<unknown> => (await service.get(`/api/v1/tx/${txId}`)).body['state'];
    const confirmed = (txId: string): Promise<void> =>
      until(`${txId} is confirmed`, async () => (await state(txId)) === 'CONFIRMED');

    wire.set('black-hole');
    const stuck = await create(OTHER_CHAIN, 'stuck');
    await until('calls to the hung chain are swallowed', async () => wire.counters.swallowed > 0);
    for (let n = 0; n < 4; n++) await confirmed(await create(DEV_CHAIN_ID, `goes-on-${n}`));
    expect(await metricsOf(service)).not.toMatch(
      new RegExp(`rpc_requests_total\\{chain="${OTHER_CHAIN}",method="\\w+",result="(timeout|connection)"`),
    );
    expect(await state(stuck)).not.toBe('CONFIRMED');

    wire.heal();
    await confirmed(stuck);
  });
});

/** The chain is up, and these are its endpoints. */
async function expectReadyWith(service: Service, endpoints: readonly object[]): Promise<void> {
  const ready = await service.get('/health/ready');
  expect([ready.status, ready.body['details']]).toMatchObject([
    200,
    { [`chain-${DEV_CHAIN_ID}`]: { status: 'up', endpoints } },
  ]);
}

/** Calls would time out after ten minutes, and a shutdown gives up after 25 seconds: nothing of it waited for an answer, however slow this machine is. */
it('a node whose endpoint hangs ends in good order, releases its leases, and loses nothing', async () => {
  const anvil = await anAnvil();
  const wire = await TcpProxy.listen(anvil.url);
  cleanUps.push(() => wire.stop());
  const cluster = await oneNode(anvil, [wire.url], { rpcTimeout: '10m' });
  const signers = DEV_ACCOUNTS.slice(0, 3);
  await cluster.createMany(signers, 'before', 3);
  await cluster.allConfirmed();

  wire.set('black-hole');
  await cluster.createMany(signers, 'stuck', 3);
  await until('calls are swallowed', async () => wire.counters.swallowed > 0);
  expect(await cluster.node(0).stop()).toBe(0);
  for (const signer of signers) {
    const lease = await cluster.database.lease(signer);
    expect([signer, lease?.expiresAt]).toEqual([signer, -Infinity]);
  }

  wire.heal();
  await cluster.node(0).start();
  await cluster.expectExactlyOnce();
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { callRpc } from '../../src/dev/json-rpc.js';
import type { SignerView } from '../../src/modules/ops/application/signer-overview.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { ClusterDatabase } from '../support/cluster-database.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type Page } from '../../src/platform/http/page-cursor.js';

const [SIGNER, OTHER] = DEV_ACCOUNTS;
const REASON = 'key rotation';

let anvil: RunningAnvil;
let database: TestDatabase;
let rows: ClusterDatabase;
let nodes: [Service, Service];

beforeAll(async () => {
  [anvil, database] = await Promise.all([
    startAnvil({ chainId: DEV_CHAIN, extraArgs: ['--no-mining'] }),
    createTestDatabase(),
  ]);
  rows = new ClusterDatabase(database.url);
  nodes = [await start(), await start()];
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await rows.close();
  await anvil.stop();
  await database.drop();
});

function start(): Promise<Service> {
  return Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config: { confirmations: { required: 2 } } });
}

async function create(node: Service, requestId: string, signer: string): Promise<string> {
  const { status, body } = await node.post<TxView>('/api/v1/tx', {
    signer,
    requestId,
    payload: { to: OTHER, value: '1' },
  });
  expect(status).toBe(202);
  return body.txId;
}

const read = async (txId: string): Promise<TxView> => (await nodes[0].get<TxView>(`/api/v1/tx/${txId}`)).body;

async function reached(txId: string, state: string, mine = false): Promise<void> {
  await until(`${txId} is ${state}`, async () => {
    if (mine) await callRpc(anvil.url, 'evm_mine', []);
    return (await read(txId)).state === state;
  });
}

async function pauseOf(node: Service): Promise<SignerView['paused'] | undefined> {
  const { body } = await node.get<Page<SignerView>>('/api/v1/signers');
  return body.items.find(({ address }) => address === SIGNER.toLowerCase())?.paused;
}

const ask = (node: Service, what: 'pause' | 'resume') =>
  node.post<{ paused: { reason: string } | null }>(`/api/v1/signers/${DEV_CHAIN}/${SIGNER}/${what}`, {
    reason: REASON,
  });

it('a paused signer finishes what is in flight, gives no nonce, and goes on when another node resumes it', async () => {
  const flying = await create(nodes[0], 'flying', SIGNER);
  await reached(flying, 'IN_MEMPOOL');
  expect(await ask(nodes[1], 'pause')).toMatchObject({ status: 200, body: { paused: { reason: REASON } } });
  expect(await ask(nodes[0], 'pause')).toMatchObject({ status: 200, body: { paused: { reason: REASON } } });
  for (const node of nodes) expect(await pauseOf(node)).toMatchObject({ reason: REASON });

  const waiting = await create(nodes[0], 'waiting', SIGNER);
  const neighbour = await create(nodes[0], 'neighbour', OTHER);
  await reached(neighbour, 'CONFIRMED', true);
  await reached(flying, 'CONFIRMED', true);
  expect(await read(waiting)).toMatchObject({ state: 'PENDING', subState: 'SIGNER_PAUSED', nonce: null });
  expect((await nodes[1].get<Page<unknown>>(`/api/v1/tx/${waiting}/attempts`)).body.items).toEqual([]);

  expect(await ask(nodes[0], 'resume')).toMatchObject({ status: 200, body: { paused: null } });
  await reached(waiting, 'IN_MEMPOOL');
  await reached(waiting, 'CONFIRMED', true);
  expect(await pauseOf(nodes[1])).toBeNull();
  const events = await rows.query<{ reason: string; detail: { reason: string } }>(
    `SELECT reason, detail FROM tx_event WHERE reason IN ('paused', 'resumed') AND signer = $1 ORDER BY seq`,
    [SIGNER.toLowerCase()],
  );
  expect(events).toMatchObject([
    { reason: 'paused', detail: { reason: REASON } },
    { reason: 'resumed', detail: { reason: REASON } },
  ]);
});

it('a stop of everything is seen at every node, in the explanation of what waits, and ended by go', async () => {
  expect(await nodes[0].post('/api/v1/stop', { reason: REASON })).toMatchObject({
    status: 200,
    body: { signer: null },
  });
  const waiting = await create(nodes[1], 'stopped', SIGNER);
  for (const node of nodes) {
    expect((await node.get('/api/v1/stops')).body).toMatchObject({ items: [{ chainId: null, reason: REASON }] });
    expect((await node.get('/health/ready')).body).toMatchObject({ details: { signers: { status: 'degraded' } } });
    expect((await node.get(`/api/v1/tx/${waiting}/explain`)).body).toMatchObject({
      subState: 'SIGNER_PAUSED',
      summary: expect.stringContaining(`all signers are paused since`),
      operator: expect.arrayContaining(['POST /api/v1/go with {}.']),
    });
  }
  expect(await nodes[1].post('/api/v1/go', {})).toMatchObject({ status: 204 });
  await reached(waiting, 'CONFIRMED', true);
});

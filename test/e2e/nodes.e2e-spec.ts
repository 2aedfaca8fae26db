import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import type { SignerView } from '../../src/modules/ops/application/signer-overview.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type Page } from '../../src/platform/http/page-cursor.js';

const SECRET = 'a secret of these tests';
/** No test lasts so long: what happens here, a bell brought about, and no look at the work by interval. */
const NO_POLLING = { worker: { pollInterval: '1h' }, resubmit: { interval: '1h' } };

let anvil: RunningAnvil;
let database: TestDatabase;
let owner: Service;
let other: Service;
let rejecting: Service;
let apiOnly: Service;
let workerOnly: Service;
/** A signer whose lease `owner` holds. */
let signer: string;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ blockTime: 0.3 }), createTestDatabase()]);
  owner = await node({ mode: 'basic', notLeader: 'forward' });
  signer = DEV_ACCOUNTS[0];
  await owner.post('/api/v1/tx', create('warm-up'));
  await until('the first node has the lease', async () => (await holder(owner)) !== null);
  other = await node({ mode: 'worker-queue', notLeader: 'forward' });
  rejecting = await node({ mode: 'worker-queue', notLeader: 'reject' });
  apiOnly = await node({ mode: 'worker-queue', notLeader: 'accept', role: 'api' });
  workerOnly = await node({ mode: 'worker-queue', notLeader: 'accept', role: 'worker' });
});

afterAll(async () => {
  await Promise.all([owner, other, rejecting, apiOnly, workerOnly].map((service) => service.stop()));
  await anvil.stop();
  await database.drop();
});

async function node(options: { mode: string; notLeader: string; role?: string }): Promise<Service> {
  return Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: {
      ...NO_POLLING,
      node: { role: options.role ?? 'all', forwardSecret: SECRET },
      execution: { mode: options.mode },
      intake: { notLeader: options.notLeader },
    },
  });
}

function create(requestId: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { signer, requestId, payload: { to: DEV_ACCOUNTS[1], value: '1' }, ...more };
}

async function holder(service: Service): Promise<string | null> {
  const { body } = await service.get<Page<SignerView>>('/api/v1/signers');
  return body.items.find(({ address }) => address === signer.toLowerCase())?.leaseOwner ?? null;
}

describe('a create that needs the owner', () => {
  it('is answered with its nonce by the owner', async () => {
    const { status, body } = await owner.post('/api/v1/tx', create('now-1', { allocate: 'now' }));
    expect([status, typeof body['nonce']]).toEqual([202, 'number']);
  });

  it('is forwarded by another node, and answered with its nonce all the same', async () => {
    const { status, body } = await other.post('/api/v1/tx', create('now-2', { allocate: 'now' }));
    expect([status, typeof body['nonce']]).toEqual([202, 'number']);
    // The same request again, on any node, is the same transaction.
    const again = await apiOnly.post('/api/v1/tx', create('now-2'));
    expect([again.status, again.body['txId']]).toEqual([200, body['txId']]);
  });

  it('is refused by a node that is to refuse, with the owner and when to come back, and nothing is stored', async () => {
    const refused = await rejecting.post('/api/v1/tx', create('now-3', { allocate: 'now' }));
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'not_leader', retryable: true, facts: { ownerNodeId: await holder(owner) } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const looked = await owner.get(`/api/v1/tx/by-request?signer=${signer}&requestId=now-3`);
    expect(looked.status).toBe(404);
  });

  it('is not believed to be forwarded without proof, and counted', async () => {
    const headers = { 'x-lockstep-forwarded-by': 'somebody', 'x-lockstep-forward-signature': 'aa' };
    const refused = await other.post('/api/v1/tx', create('now-4', { allocate: 'now' }), headers);
    expect(refused).toMatchObject({ status: 400, body: { code: 'bad_forward_signature' } });
    const { body } = await other.get('/metrics');
    expect(String(body['text'])).toContain('auth_refused_total{reason="forwarded"} 1\n');
  });
});

describe('roles', () => {
  it('a node of role api stores requests, and another node executes them', async () => {
    const { body } = await apiOnly.post('/api/v1/tx', create('role-1'));
    const tx = await apiOnly.get(`/api/v1/tx/${String(body['txId'])}?waitFor=CONFIRMED&timeoutMs=30000`);
    expect(tx.body).toMatchObject({ state: 'CONFIRMED' });
  });

  it('a node of role worker has probes and metrics, and no API', async () => {
    expect((await workerOnly.get('/health/live')).status).toBe(200);
    expect((await workerOnly.get('/metrics')).status).toBe(200);
    expect(await workerOnly.post('/api/v1/tx', create('role-2'))).toMatchObject({
      status: 404,
      body: { code: 'route_not_found' },
    });
  });
});

describe('the doorbell', () => {
  it('wakes the owner for a request that another node took, when nothing else would within the hour', async () => {
    const { body } = await apiOnly.post('/api/v1/tx', create('bell-1'));
    const tx = await apiOnly.get(`/api/v1/tx/${String(body['txId'])}?waitFor=IN_MEMPOOL&timeoutMs=20000`);
    expect(tx.body['state']).toMatch(/^(IN_MEMPOOL|MINED|CONFIRMED)$/);
  });
});

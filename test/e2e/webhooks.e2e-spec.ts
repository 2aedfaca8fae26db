import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { Receiver } from '../unit/webhooks/sender-lab.js';

const [ALICE, TO] = DEV_ACCOUNTS;
const NOBODY = '00000000-0000-7000-8000-000000000000';
const PATH = '/api/v1/webhooks';

let anvil: RunningAnvil;
let testDatabase: TestDatabase;
let service: Service;
const receiver = new Receiver();

beforeAll(async () => {
  [anvil, testDatabase] = await Promise.all([startAnvil({ blockTime: 0.3 }), createTestDatabase(), receiver.start()]);
  service = await Service.start({
    databaseUrl: testDatabase.url,
    rpcUrl: anvil.url,
    config: { webhooks: { allow: ['127.0.0.1/32'] }, confirmations: { required: 1 } },
  });
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
  await anvil.stop();
  await testDatabase.drop();
});

const tx = (requestId: string, callback: string) => ({
  signer: ALICE,
  requestId,
  payload: { to: TO, value: '1' },
  callback,
});

async function storedSecrets(): Promise<unknown[]> {
  const client = new Client({ connectionString: testDatabase.url });
  await client.connect();
  const { rows } = await client.query<{ secret: string }>('SELECT secret FROM webhook_endpoint');
  await client.end();
  return rows.map(({ secret }) => secret);
}

const typesReceived = () => receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

it('a request names its webhook, which follows it to its end, signed and in order, and can be replayed', async () => {
  const created = await service.post<{ id: string; secret: string }>(PATH, { url: receiver.url(), callbackOnly: true });
  expect(created.status).toBe(201);
  const { id, secret } = created.body;
  expect(await storedSecrets()).toEqual([expect.stringMatching(/^aes256gcm:/)]);
  expect((await service.post('/api/v1/tx', { ...tx('other', id), callback: undefined })).status).toBe(202);
  const { body } = await service.post<{ txId: string }>('/api/v1/tx', tx('one', id.toUpperCase()));
  expect((await service.get(`/api/v1/tx/${body.txId}`)).body).toMatchObject({ callback: id });
  await until('the tx is confirmed', async () => typesReceived().includes('tx.confirmed'));
  expect(typesReceived()).toEqual([
    'tx.accepted',
    'tx.submitted',
    'tx.receipt_updated',
    'tx.confirmations',
    'tx.confirmed',
  ]);
  const events = receiver.received.map(({ request, body: text }) =>
    new Webhook(secret).verify(text, request.headers as Record<string, string>),
  );
  for (const event of events) expect(event).toMatchObject({ data: { txId: body.txId, requestId: 'one' } });
  await until('all are recorded', async () => {
    const { body: page } = await service.get<{ items: object[] }>(`${PATH}/${id}/deliveries?status=delivered`);
    return page.items.length === 5;
  });
  const again = await service.post(`${PATH}/${id}/replay`, { since: '2020-01-01T00:00:00Z' });
  expect(again.body).toEqual({ replayed: 5, hasMore: false, nextCursor: null });
  await until('all came again', async () => receiver.received.length === 10);
  const ids = receiver.received.map(({ request }) => request.headers['webhook-id']);
  expect(new Set(ids).size).toBe(5);
  const one = await service.get<{ body: object }>(`${PATH}/${id}/deliveries/${String(ids[0])}`);
  expect(one.body).toMatchObject({ eventId: ids[0], type: 'tx.accepted', body: { type: 'tx.accepted' } });
  const test = await service.post(`${PATH}/${id}/test`, {});
  expect(test.body).toMatchObject({ status: 200, error: null });
  expect(typesReceived().at(-1)).toBe('webhook.test');
});

it('a callback that is not there is refused, and nothing is stored', async () => {
  const { body } = await service.post<{ id: string }>(PATH, { url: receiver.url() });
  const deleted = await fetch(`${service.url}${PATH}/${body.id}`, { method: 'DELETE' });
  expect(deleted.status).toBe(204);
  for (const callback of [NOBODY, body.id]) {
    const { status, body: problem } = await service.post('/api/v1/tx', tx('unknown', callback));
    expect([status, problem['code']]).toEqual([422, 'unknown_webhook']);
  }
  const batch = await service.post<{ items: { status: number }[] }>('/api/v1/tx/batch', {
    items: [tx('unknown', NOBODY)],
  });
  expect(batch.body.items.map(({ status }) => status)).toEqual([422]);
  const found = await service.get(`/api/v1/tx/by-request?signer=${ALICE}&requestId=unknown`);
  expect(found.status).toBe(404);
});

it('a request is answered as before when it is repeated after its callback was deleted', async () => {
  const { body } = await service.post<{ id: string }>(PATH, { url: receiver.url() });
  const first = await service.post<{ txId: string }>('/api/v1/tx', tx('repeated', body.id));
  await fetch(`${service.url}${PATH}/${body.id}`, { method: 'DELETE' });
  const again = await service.post<{ txId: string }>('/api/v1/tx', tx('repeated', body.id));
  expect([first.status, again.status, again.body.txId]).toEqual([202, 200, first.body.txId]);
  const items = [tx('never stored', body.id), tx('repeated', body.id)];
  const batch = await service.post<{ items: { status: number }[] }>('/api/v1/tx/batch', { items });
  expect(batch.body.items.map(({ status }) => status)).toEqual([422, 200]);
});

it('mistakes have stable codes', async () => {
  const code = async (answer: Promise<{ status: number; body: Readonly<Record<string, unknown>> }>) => {
    const { status, body } = await answer;
    return `${status} ${String(body['code'])}`;
  };
  expect(await code(service.post(PATH, { url: 'http://10.0.0.1/' }))).toBe('400 invalid_webhook_url');
  expect(await code(service.post(PATH, { url: receiver.url(), types: ['no'] }))).toBe('400 invalid_request');
  expect(await code(service.get(`${PATH}/${NOBODY}`))).toBe('404 webhook_not_found');
  expect(await code(service.get(`${PATH}/nonsense/deliveries`))).toBe('404 webhook_not_found');
  expect(await code(service.get(`${PATH}?cursor=x`))).toBe('400 invalid_cursor');
  const { body } = await service.post<{ id: string }>(PATH, { url: receiver.url() });
  expect(await code(service.get(`${PATH}/${body.id}/deliveries/1-1-0`))).toBe('404 delivery_not_found');
  expect(await code(service.post(`${PATH}/${body.id}/replay`, {}))).toBe('400 invalid_replay');
  const disabled = await fetch(`${service.url}${PATH}/${body.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: false }),
  });
  expect(await disabled.json()).toMatchObject({ enabled: false });
  expect(await code(service.post(`${PATH}/${body.id}/replay`, { status: 'dead' }))).toBe('409 webhook_disabled');
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { SCOPES } from '../../src/kernel/caller.js';
import { hashOf, keyText, newSecret } from '../../src/modules/access/application/key-text.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [SIGNER, BUSY, WAITING] = DEV_ACCOUNTS;
const CHAINS = '/api/v1/chains';

let anvil: RunningAnvil;
let database: TestDatabase;
let client: Client;
let nodes: [Service, Service];
let node: Service;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  const start = (): Promise<Service> =>
    Service.start({
      databaseUrl: database.url,
      rpcUrl: anvil.url,
      config: { auth: { mode: 'apiKeys' }, limits: { signer: { txsPerSecond: 4 } } },
    });
  nodes = [await start(), await start()];
  [node] = nodes;
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await Promise.all(nodes.map((one) => one.stop()));
  await anvil.stop();
  await database.drop();
});

/** An account of its own with a key of all scopes, which all nodes take. @returns the key */
async function account(limits: Record<string, number | null> | null): Promise<string> {
  const [id, secret] = [randomUUID(), newSecret()];
  await client.query('INSERT INTO account (account_id, name, limits) VALUES ($1, $2, $3)', [id, `a-${id}`, limits]);
  await client.query(
    'INSERT INTO api_key (key_id, account_id, name, secret_hash, scopes) VALUES ($1, $1, $2, $3, $4)',
    [id, 'test', hashOf(secret), SCOPES],
  );
  await client.query(`NOTIFY lockstep_keys`);
  const key = keyText({ id, secret });
  for (const one of nodes)
    await until('the key is taken with its limits', async () => {
      const { status, headers } = await one.call('GET', CHAINS, key);
      return status !== 401 && headers.has('ratelimit-policy') === (limits !== null);
    });
  return key;
}

const limitOf = ({ status, body }: HttpAnswer<Record<string, unknown>>): unknown[] => [
  status,
  body['code'],
  body['facts'],
];
const refused = (limit: string): unknown[] => [429, 'rate_limited', { limit }];

/** Sends until it is refused. @returns the refusal */
async function exhaust(key: string, service = node): Promise<HttpAnswer<Record<string, unknown>>> {
  for (let sent = 0; sent < 1_000; sent += 1) {
    const answer = await service.call('GET', CHAINS, key);
    if (answer.status !== 200) return answer;
  }
  throw new Error('1,000 requests were answered');
}

async function waitAsTold({ headers }: HttpAnswer<unknown>): Promise<void> {
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

describe('an account that sends more than it may', () => {
  it('is refused with what it may and when to come again, and passes then; others and other nodes are not concerned', async () => {
    const [key, other] = [await account({ requestsPerSecond: 2 }), await account(null)];
    const answer = await exhaust(key);
    expect(limitOf(answer)).toEqual(refused('requests'));
    expect(answer.headers.get('ratelimit-policy')).toBe('"requests";q=10;w=5');
    expect(answer.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=[45]$/);
    const others = await Promise.all(Array.from({ length: 50 }, () => node.call('GET', CHAINS, other)));
    expect(others.map(({ status, headers }) => [status, headers.has('ratelimit')])).toEqual(
      others.map(() => [200, false]),
    );
    expect((await nodes[1].call('GET', CHAINS, key)).status).toBe(200);
    await waitAsTold(await exhaust(key));
    expect((await node.call('GET', CHAINS, key)).status).toBe(200);
    const { body } = await node.get('/metrics');
    expect(String(body['text'])).toMatch(/^limited_total\{limit="requests"\} \d+$/m);
  });

  it('is refused before its body is looked at, but can stop, and go on again', async () => {
    const key = await account({ requestsPerSecond: 1 });
    await exhaust(key);
    expect(limitOf(await node.call('POST', '/api/v1/tx', key, { nonsense: true }))).toEqual(refused('requests'));
    const stop = await node.call('POST', '/api/v1/stop', key, {
      reason: 'too many requests',
      signer: SIGNER,
      chainId: 31_337,
    });
    expect([stop.status, stop.body['code']]).toEqual([200, undefined]);
    const go = await node.call('POST', '/api/v1/go', key, { signer: SIGNER, chainId: 31_337 });
    expect(go.status).toBe(204);
  });

  it('pays for each item of a batch', async () => {
    const key = await account({ requestsPerSecond: 50 });
    const items = Array.from({ length: 1_000 }, () => ({}));
    expect((await node.call('POST', '/api/v1/tx/batch', key, { items })).status).toBe(200);
    const answer = await node.call('GET', CHAINS, key);
    expect(limitOf(answer)).toEqual(refused('requests'));
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(5);
  });

  it('pays for the bytes of bodies, also when their length is not told', async () => {
    const key = await account({ bytesPerSecond: 1_000 });
    const body = JSON.stringify({ text: 'x'.repeat(60_000) });
    const chunked = await fetch(`${node.url}/api/v1/tx`, {
      method: 'POST',
      body: new Blob([body]).stream(),
      duplex: 'half',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    expect(chunked.status).toBe(400);
    expect(limitOf(await node.call('POST', '/api/v1/tx', key, {}))).toEqual(refused('bytes'));
    expect((await node.call('GET', CHAINS, key)).status).toBe(200);
  });
});

it('a signer has a limit whoever sends with it, also in batches; what is refused is stored later, and others are not concerned', async () => {
  const [one, other] = [await account(null), await account({ requestsPerSecond: 1_000 })];
  const item = (requestId: string, signer: string = BUSY) => ({
    signer,
    requestId,
    payload: { to: SIGNER, value: '1' },
  });
  const items = Array.from({ length: 30 }, (_, n) => item(`batch-${n}`));
  const batch = await node.call<{ items: { status: number; problem?: { facts: object } }[] }>(
    'POST',
    '/api/v1/tx/batch',
    one,
    { items },
  );
  // Two a second at each of two nodes, for five seconds at once.
  const statuses = batch.body.items.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202).length).toBeGreaterThanOrEqual(10);
  expect(statuses.at(-1)).toBe(429);
  expect(batch.body.items.at(-1)?.problem?.facts).toEqual({ limit: 'signer_txs' });
  let single: HttpAnswer<Record<string, unknown>> = batch;
  await until('one alone is refused, too', async () => {
    single = await node.call('POST', '/api/v1/tx', other, item(randomUUID()));
    return single.status === 429;
  });
  expect(limitOf(single)).toEqual(refused('signer_txs'));
  const told = (answer: HttpAnswer<unknown>): (string | null)[] =>
    ['retry-after', 'ratelimit-policy', 'ratelimit'].map((name) => answer.headers.get(name));
  expect(told(single)).toEqual([
    expect.stringMatching(/^[1-9]$/),
    '"requests";q=5000;w=5, "signer_txs";q=20;w=5',
    expect.stringMatching(/^"requests";r=\d+;t=\d+, "signer_txs";r=0;t=\d+$/),
  ]);
  // A replace makes a transaction, too.
  const { txId } = (await node.call<{ txId: string }>('POST', '/api/v1/tx', one, items[0])).body;
  let replaced: HttpAnswer<Record<string, unknown>> = single;
  await until('a replace is refused as well', async () => {
    const payload = { to: SIGNER, value: '2' };
    const path = `/api/v1/tx/${txId}/replace`;
    replaced = await node.call('POST', path, one, { requestId: randomUUID(), payload });
    return replaced.status === 429;
  });
  expect([limitOf(replaced), told(replaced)]).toEqual([
    refused('signer_txs'),
    [expect.stringMatching(/^[1-9]$/), '"signer_txs";q=20;w=5', expect.stringMatching(/^"signer_txs";r=0;t=\d+$/)],
  ]);
  // What was stored is answered while nothing is left.
  expect((await node.call('POST', '/api/v1/tx', one, items[0])).status).toBe(200);
  expect((await node.call('POST', '/api/v1/tx', other, item('elsewhere', SIGNER))).status).toBe(202);
  await waitAsTold(single);
  expect((await node.call('POST', '/api/v1/tx', one, items[29])).status).toBe(202);
});

it('an account has no more waiting transactions and webhook endpoints than it may; what it repeats is answered', async () => {
  const [key, other] = [
    await account({ waitingTxs: 2, webhookEndpoints: 1, requestsPerSecond: 1_000 }),
    await account(null),
  ];
  const stopped = { signer: WAITING, chainId: 31_337 };
  expect((await node.call('POST', '/api/v1/stop', other, { ...stopped, reason: 'test' })).status).toBe(200);
  const item = (n: number) => ({ signer: WAITING, requestId: `waits-${n}`, payload: { to: SIGNER, value: '1' } });
  const items = [1, 2, 3].map(item);
  const batch = await node.call<{ items: { status: number; problem?: { facts: object } }[] }>(
    'POST',
    '/api/v1/tx/batch',
    key,
    { items },
  );
  expect(batch.body.items.map(({ status }) => status)).toEqual([202, 202, 429]);
  expect(batch.body.items[2]?.problem?.facts).toEqual({ limit: 'waiting_txs' });
  const single = await nodes[1].call<Record<string, unknown>>('POST', '/api/v1/tx', key, item(4));
  expect(limitOf(single)).toEqual(refused('waiting_txs'));
  expect((await nodes[1].call('POST', '/api/v1/tx', key, item(1))).status).toBe(200);
  expect((await node.call('POST', '/api/v1/tx', other, item(1))).status).toBe(202);
  expect((await node.call('POST', '/api/v1/go', other, stopped)).status).toBe(204);
  await until('they have a nonce, and wait no more', async () => {
    return (await node.call('POST', '/api/v1/tx', key, item(4))).status === 202;
  });
  const endpoint = { url: 'https://example.com/hook' };
  expect((await node.call('POST', '/api/v1/webhooks', key, endpoint)).status).toBe(201);
  const second = await node.call<Record<string, unknown>>('POST', '/api/v1/webhooks', key, endpoint);
  expect(limitOf(second)).toEqual(refused('webhook_endpoints'));
  expect((await node.call('POST', '/api/v1/webhooks', other, endpoint)).status).toBe(201);
});

it('streams and long polls of an account are counted until they end, whatever its clients do', async () => {
  const [key, other] = [await account({ streams: 2, requestsPerSecond: 1_000 }), await account(null)];
  const open = (as: string): Promise<StreamClient> =>
    StreamClient.open(`${node.url}/api/v1/events`, { authorization: `Bearer ${as}` });
  const created = await node.call<{ txId: string }>('POST', '/api/v1/tx', key, {
    signer: SIGNER,
    requestId: 'waited-for',
    payload: { to: SIGNER, value: '1' },
  });
  const poll = (timeoutMs: number) =>
    node.call('GET', `/api/v1/tx/${created.body.txId}?waitFor=CONFIRMED&timeoutMs=${timeoutMs}`, key);
  // One at each of two nodes.
  const stream = await open(key);
  expect(stream.status).toBe(200);
  expect((await open(key)).status).toBe(429);
  expect(limitOf(await poll(10_000))).toEqual(refused('streams'));
  expect((await node.call('GET', `/api/v1/tx/${created.body.txId}`, key)).status).toBe(200);
  expect((await node.call('GET', '/api/v1/events', key)).status).toBe(200);
  const others = await Promise.all([open(other), open(other)]);
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  stream.close();
  await until('the stream has ended', async () => (await poll(1)).status === 200);
  for (const one of others) one.close();
});

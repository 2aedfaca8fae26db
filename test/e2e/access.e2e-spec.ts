import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { SCOPES } from '../../src/kernel/caller.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { guardedOperations, NOBODY, refusalOf, WITHOUT_SCOPE } from '../support/guarded-operations.js';
import { SecretSearch } from '../support/secret-search.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

const [SIGNER, OTHER] = DEV_ACCOUNTS;
/** `ls_` and 32 digits; the secret is behind one more underscore. */
const PREFIX_CHARS = 35;

let anvil: RunningAnvil;
let database: TestDatabase;
let nodes: Service[];
let node: Service;
let admin: string;
const search = new SecretSearch();

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  const start = (): Promise<Service> =>
    Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config: { auth: { mode: 'apiKeys' } } });
  node = await start();
  nodes = [node, await start(), await start()];
  admin = kept((await node.cli('keys', 'create', '--name', 'first', '--all-scopes')).trim());
  for (const one of nodes)
    await until('the key is taken', async () => (await ask(one, 'GET', '/api/v1/keys', admin)).status === 200);
});
afterAll(async () => {
  await Promise.all(nodes.map((one) => one.stop()));
  await anvil.stop();
  await database.drop();
});

function kept(key: string): string {
  search.keep('key', key.slice(PREFIX_CHARS + 1));
  return key;
}

/** Only the answers that make keys may show them. */
async function ask(
  service: Service,
  method: string,
  path: string,
  key: string | null,
  body?: unknown,
): Promise<HttpAnswer<Record<string, unknown>>> {
  const answer = await service.call(method, path, key, body);
  search.answered(answer.body);
  return answer;
}

async function make(grant: Record<string, unknown>, key = admin): Promise<MadeKey> {
  const { status, body } = await node.call<MadeKey & Record<string, unknown>>('POST', '/api/v1/keys', key, {
    name: 'test',
    ...grant,
  });
  expect([status, body]).toEqual([201, expect.objectContaining({ prefix: body.key.slice(0, PREFIX_CHARS) })]);
  return { id: body.id, key: kept(body.key) };
}

describe('each operation of the document', () => {
  it('is for those who have a key with its scope', async () => {
    const soon = await make({ scopes: SCOPES, expiresAt: new Date(Date.now() + 1_500).toISOString() });
    const revoked = await make({ scopes: SCOPES });
    expect((await ask(node, 'POST', `/api/v1/keys/${revoked.id}/revoke`, admin)).body['revokedAt']).toEqual(
      expect.any(String),
    );
    await until('the key has expired', async () => (await ask(node, 'GET', '/api/v1/chains', soon.key)).status === 401);
    const guarded = await guardedOperations(node);
    const keysOf = new Map<string, { only: MadeKey; without: MadeKey }>();
    for (const scope of new Set(guarded.map((operation) => operation.scope)))
      keysOf.set(scope, {
        only: await make({ scopes: [scope] }),
        without: await make({ scopes: SCOPES.filter((one) => one !== scope) }),
      });
    const wrong = `${admin.slice(0, -4)}AAAA`;
    for (const operation of guarded) {
      const { only, without } = keysOf.get(operation.scope) ?? { only: null, without: null };
      const rows: unknown[] = [];
      for (const key of [null, wrong, soon.key, revoked.key, without?.key ?? '', only?.key ?? ''])
        rows.push(await refusalOf((...request) => ask(node, ...request), operation, key));
      expect([operation, ...rows]).toEqual([operation, NOBODY, NOBODY, NOBODY, NOBODY, WITHOUT_SCOPE, 'passes']);
    }
  });

  it('outside the API is open: health and metrics', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics'])
      expect((await ask(node, 'GET', path, null)).status).toBe(200);
  });

  it('takes the key in X-Api-Key too, and not in the URL', async () => {
    const status = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${node.url}${path}`, { headers })).status;
    expect(await status('/api/v1/chains', { 'x-api-key': admin })).toBe(200);
    expect(await status(`/api/v1/chains?key=${admin}`, {})).toBe(401);
    expect(await status('/api/v1/chains', { authorization: `Basic ${admin}` })).toBe(401);
    expect((await fetch(`${node.url}/api/v1/chains`, { method: 'HEAD' })).status).toBe(401);
    expect(await status('/api/v1/%63hains', {})).toBe(401);
  });
});

it('nobody makes a key that may do more than their own', async () => {
  const keys = await make({ scopes: ['keys:admin', 'tx:read'] });
  const refused = await ask(node, 'POST', '/api/v1/keys', keys.key, { name: 'x', scopes: ['tx:write'] });
  expect(refused).toMatchObject({ status: 403, body: { code: 'missing_scope', facts: { missing: ['tx:write'] } } });
  const strong = await make({ scopes: ['tx:write'] });
  expect(await ask(node, 'POST', `/api/v1/keys/${strong.id}/rotate`, keys.key, {})).toMatchObject({ status: 403 });
  await make({ scopes: ['tx:read'] }, keys.key);
});

it('a revoked key ends its stream and its long poll at another node within seconds', async () => {
  const key = await make({ scopes: ['tx:read', 'tx:write', 'events:read'] });
  const other = nodes[1] ?? node;
  await until(
    'the other node takes it',
    async () => (await ask(other, 'GET', '/api/v1/chains', key.key)).status === 200,
  );
  const created = await ask(other, 'POST', '/api/v1/tx', key.key, {
    signer: SIGNER,
    requestId: 'waits',
    payload: { to: OTHER, value: '1' },
  });
  const headers = { authorization: `Bearer ${key.key}` };
  const stream = await fetch(`${other.url}/api/v1/events`, { headers: { ...headers, accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  const ended = { stream: false, poll: false };
  void new Response(stream.body)
    .text()
    .catch(() => '')
    .then(() => (ended.stream = true));
  void fetch(`${other.url}/api/v1/tx/${String(created.body['txId'])}?waitFor=CONFIRMED&timeoutMs=60000`, { headers })
    .then((answer) => answer.text())
    .catch(() => '')
    .then(() => (ended.poll = true));
  await until('the stream is open', async () =>
    String((await other.get('/metrics')).body['text']).includes('\nevent_streams 1\n'),
  );
  expect(ended).toEqual({ stream: false, poll: false });
  await ask(node, 'POST', `/api/v1/keys/${key.id}/revoke`, admin);
  await until('both have ended', async () => ended.stream && ended.poll, 6_000);
  expect((await ask(other, 'GET', '/api/v1/chains', key.key)).status).toBe(401);
});

it('a key is rotated under load on three nodes, and no request is refused before the overlap ends', async () => {
  const old = await make({ scopes: ['tx:read'] });
  await Promise.all(
    nodes.map((one) =>
      until('it is taken', async () => (await ask(one, 'GET', '/api/v1/chains', old.key)).status === 200),
    ),
  );
  let used = old.key;
  let running = true;
  let sent = 0;
  const refused: number[] = [];
  const clients = Array.from({ length: 9 }, async (_, n) => {
    while (running) {
      const { status } = await ask(nodes[n % nodes.length] ?? node, 'GET', '/api/v1/chains', used);
      sent += 1;
      if (status !== 200) refused.push(status);
    }
  });
  const rotatedAt = performance.now();
  const { body } = await node.call<{ key: string; id: string }>('POST', `/api/v1/keys/${old.id}/rotate`, admin, {
    overlapSeconds: 4,
  });
  kept(body.key);
  for (const one of nodes)
    await until('the new key is taken', async () => (await ask(one, 'GET', '/api/v1/chains', body.key)).status === 200);
  used = body.key;
  await until('the old key is refused', async () => (await ask(node, 'GET', '/api/v1/chains', old.key)).status === 401);
  const lasted = performance.now() - rotatedAt;
  running = false;
  await Promise.all(clients);
  expect(refused).toEqual([]);
  expect(sent).toBeGreaterThan(100);
  expect(lasted).toBeGreaterThanOrEqual(4_000);
  expect(lasted).toBeLessThan(8_000);
});

it('the command line lists keys without their secrets, and revokes them', async () => {
  const { id, key } = await make({ scopes: ['tx:read'] });
  const lines = (await node.cli('keys', 'list'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  search.answered(lines);
  expect(lines.find((line) => line.id === id)).toMatchObject({
    name: 'test',
    prefix: key.slice(0, PREFIX_CHARS),
  });
  await node.cli('keys', 'revoke', key.slice(0, PREFIX_CHARS));
  await until('it is refused', async () => (await ask(node, 'GET', '/api/v1/chains', key)).status === 401);
  await expect(node.cli('keys', 'create', '--name', 'x', '--scope', 'tx:everything')).rejects.toThrow(
    'tx:read, tx:write',
  );
  await expect(node.cli('keys', 'revoke', 'nobody')).rejects.toThrow('no key nobody');
  await expect(node.cli('keys', 'create', '--all-scopes', '--name', 'x'.repeat(101))).rejects.toThrow('1 to 100');
  const forever = node.cli('keys', 'create', '--all-scopes', '--name', 'x', '--expires-in', '99999999999999d');
  await expect(forever).rejects.toThrow('a hundred years');
});

it('a key that leaked is revoked by all that is known of it, and no answer shows it again', async () => {
  const [one, other] = [await make({ scopes: ['tx:read'] }), await make({ scopes: ['tx:read'] })];
  await node.cli('keys', 'revoke', one.key);
  const { status, body } = await ask(node, 'POST', `/api/v1/keys/${other.key}/revoke`, admin);
  expect([status, body['id']]).toEqual([200, other.id]);
  for (const { key } of [one, other])
    await until('it is refused', async () => (await ask(node, 'GET', '/api/v1/chains', key)).status === 401);
  const typo = node.cli('keys', 'revoke', `${one.key}x`);
  await expect(typo).rejects.toMatchObject({
    stderr: `error: no key ${one.key.slice(0, PREFIX_CHARS)}; lockstep keys list shows the keys\n`,
  });
});

it('a name and a reason may have as many characters as the database takes, however they are written', async () => {
  const tooMany = [
    await ask(node, 'POST', '/api/v1/keys', admin, { name: '❤️'.repeat(60), scopes: ['tx:read'] }),
    await ask(node, 'POST', '/api/v1/stop', admin, { reason: '⚠️'.repeat(300) }),
  ];
  expect(tooMany.map(({ status, body }) => [status, body['code']])).toEqual([
    [400, 'invalid_request'],
    [400, 'invalid_request'],
  ]);
  await make({ scopes: ['tx:read'], name: '❤️'.repeat(50) });
});

it('a flood of wrong keys fills no log, and is counted', async () => {
  const before = node.log.join('').length;
  await Promise.all(Array.from({ length: 500 }, () => ask(node, 'GET', '/api/v1/chains', `${admin.slice(0, -4)}AAAA`)));
  expect(node.log.join('').length - before).toBeLessThan(2_000);
  const { body } = await node.get('/metrics');
  expect(
    Number(/^auth_refused_total\{reason="invalid"\} (\d+)$/m.exec(String(body['text']))?.[1]),
  ).toBeGreaterThanOrEqual(500);
});

it('no log, answer or table of all that shows a secret', async () => {
  await search.expectNone(database.url, nodes);
});

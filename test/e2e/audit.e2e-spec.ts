import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { type GuardedOperation, guardedOperations } from '../support/guarded-operations.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

type Body = Record<string, unknown>;
interface Entry extends Body {
  readonly seq: string;
  readonly at: string;
  readonly account: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
}

const SIGNER = DEV_ACCOUNTS[0];
const KEY = { name: 'test', scopes: ['tx:read'] };

let anvil: RunningAnvil;
let database: TestDatabase;
let receiver: Server;
let nodes: [Service, Service];
let admin: string;
let shop: string;

beforeAll(async () => {
  receiver = createServer((request, answer) => request.resume().on('end', () => answer.writeHead(204).end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  [anvil, database] = await Promise.all([startAnvil(), createTestDatabase()]);
  const start = (role: 'all' | 'api'): Promise<Service> =>
    Service.start({
      databaseUrl: database.url,
      rpcUrl: anvil.url,
      config: {
        node: { role },
        auth: { mode: 'apiKeys' },
        webhooks: { allow: ['127.0.0.1/32'] },
        limits: { account: { requestsPerSecond: 900 } },
        confirmations: { required: 1 },
      },
    });
  // One owns all signers, so that it answers a sync.
  nodes = [await start('all'), await start('api')];
  admin = (await nodes[0].cli('keys', 'create', '--name', 'operator', '--all-scopes')).trim();
  await nodes[0].cli('accounts', 'create', 'shop');
  shop = (await nodes[0].cli('keys', 'create', '--account', 'shop', '--name', 'till', '--all-scopes')).trim();
  for (const node of nodes) for (const key of [admin, shop]) await takes(node, key, 200);
});
afterAll(async () => {
  receiver.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await anvil.stop();
  await database.drop();
});

const ask = <T extends object = Body>(
  method: string,
  path: string,
  body?: unknown,
  key = admin,
): Promise<HttpAnswer<T>> => nodes[0].call<T>(method, `/api/v1${path}`, key, body);

const takes = (node: Service, key: string, status: number): Promise<void> =>
  until(`a node answers ${status}`, async () => (await node.call('GET', '/api/v1/chains', key)).status === status);

async function made(path: string, body: object): Promise<string> {
  const { status, body: answer } = await ask('POST', path, body);
  expect([path, status]).toEqual([path, 201]);
  return String(answer['id']);
}

async function entries(query = '', key = admin): Promise<readonly Entry[]> {
  const { status, body } = await ask<{ items: Entry[] }>('GET', `/audit?limit=200${query}`, undefined, key);
  expect(status).toBe(200);
  return body.items;
}

const aWebhook = (): Promise<string> =>
  made('/webhooks', { url: `http://127.0.0.1:${(receiver.address() as { port: number }).port}/` });
const signer = `/signers/${DEV_CHAIN}/${SIGNER}`;
const policy = `/policies/${DEV_CHAIN}/${SIGNER}`;

/** An event that was delivered to a new endpoint. */
async function aDelivery(): Promise<string> {
  const webhook = await aWebhook();
  await ask('POST', '/tx', { signer: SIGNER, requestId: webhook, payload: { to: SIGNER, value: '1' } });
  let path = '';
  await until('an event was delivered', async () => {
    await callRpc(anvil.url, 'evm_mine', []);
    const { body } = await ask<{ items: { eventId: string }[] }>('GET', `/webhooks/${webhook}/deliveries`);
    path = `/webhooks/${webhook}/deliveries/${body.items[0]?.eventId}/replay`;
    return body.items.length > 0;
  });
  return path;
}

/** What makes each operation succeed: its URL, which may have to be made first, and its body. */
const RECIPES: Readonly<Record<string, () => Promise<readonly [path: string, body?: object]>>> = {
  'POST /api/v1/keys': async () => ['/keys', KEY],
  'POST /api/v1/keys/{id}/rotate': async () => [`/keys/${await made('/keys', KEY)}/rotate`, {}],
  'POST /api/v1/keys/{id}/revoke': async () => [`/keys/${await made('/keys', KEY)}/revoke`, {}],
  'POST /api/v1/accounts': async () => ['/accounts', { name: 'made' }],
  'PUT /api/v1/accounts/{name}/limits': async () => ['/accounts/made/limits', { streams: 5 }],
  'POST /api/v1/accounts/{name}/disable': async () => ['/accounts/made/disable', {}],
  'POST /api/v1/accounts/{name}/enable': async () => ['/accounts/made/enable', {}],
  'POST /api/v1/webhooks': async () => ['/webhooks', { url: 'https://example.com/token-of-the-receiver' }],
  'PATCH /api/v1/webhooks/{id}': async () => [`/webhooks/${await aWebhook()}`, { description: 'other' }],
  'DELETE /api/v1/webhooks/{id}': async () => [`/webhooks/${await aWebhook()}`],
  'POST /api/v1/webhooks/{id}/rotate-secret': async () => [`/webhooks/${await aWebhook()}/rotate-secret`, {}],
  'POST /api/v1/webhooks/{id}/test': async () => [`/webhooks/${await aWebhook()}/test`, {}],
  'POST /api/v1/webhooks/{id}/deliveries/{eventId}/replay': async () => [await aDelivery(), {}],
  'POST /api/v1/webhooks/{id}/replay': async () => [`/webhooks/${await aWebhook()}/replay`, { status: 'dead' }],
  'POST /api/v1/signers/{chainId}/{address}/pause': async () => [`${signer}/pause`, { reason: 'why' }],
  'POST /api/v1/signers/{chainId}/{address}/resume': async () => [`${signer}/resume`, {}],
  'POST /api/v1/signers/{chainId}/{address}/sync': async () => [`${signer}/sync`, {}],
  'POST /api/v1/signers/{chainId}/{address}/nonces/{nonce}/close': async () => {
    const { body } = await ask<{ holds: { holdId: string; nonce: number }[] }>('POST', `${signer}/nonces`, {
      requestId: 'hold',
    });
    const [{ holdId, nonce } = { holdId: '', nonce: 0 }] = body.holds;
    return [`${signer}/nonces/${nonce}/close`, { holdId, reason: 'why' }];
  },
  'PUT /api/v1/policies/{chainId}/{address}': async () => [policy, { version: 0, rules: { authorizations: true } }],
  'DELETE /api/v1/policies/{chainId}/{address}': async () => [`${policy}?version=1`],
  'POST /api/v1/stop': async () => ['/stop', { chainId: DEV_CHAIN }],
  'POST /api/v1/go': async () => ['/go', { chainId: DEV_CHAIN }],
};

const isAdminAction = ({ method, scope }: GuardedOperation): boolean => method !== 'GET' && scope.endsWith(':admin');

describe('the audit log', () => {
  it('has one entry for each admin operation of the document that succeeds, and none for one that fails', async () => {
    const { body: document } = await nodes[0].get<{
      paths: Record<string, Record<string, { operationId: string }>>;
    }>('/docs-json');
    const actions = (await guardedOperations(nodes[0])).filter(isAdminAction);
    expect(actions.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(RECIPES).sort());
    for (const { method, path } of actions) {
      const url = path.replace('/api/v1', '').replaceAll(/\{(\w+)\}/g, 'nonsense');
      const before = await entries();
      const failed = await ask(method, url, method === 'DELETE' ? undefined : { nonsense: true });
      expect([method, path, failed.status >= 400]).toEqual([method, path, true]);
      expect([path, await entries()]).toEqual([path, before]);
    }
    for (const operation of Object.keys(RECIPES)) {
      const [method = '', path = ''] = operation.split(' ');
      const [url, body] = await (RECIPES[operation]?.() ?? [operation]);
      const before = new Set((await entries()).map(({ seq }) => seq));
      const { status } = await ask(method, url, body);
      const fresh = (await entries()).filter(({ seq }) => !before.has(seq));
      expect([operation, status < 300, fresh]).toEqual([
        operation,
        true,
        [
          expect.objectContaining({
            account: 'default',
            actor: expect.stringMatching(/^key:/),
            action: document.paths[path]?.[method.toLowerCase()]?.operationId,
            object: expect.stringMatching(/^(key|account|webhook|signer|chain):/),
          }),
        ],
      ]);
    }
    expect(JSON.stringify(await entries())).not.toContain('token-of-the-receiver');
  });

  it('has what the command line does', async () => {
    const [node] = nodes;
    const id = (await node.cli('keys', 'create', '--name', 'x', '--scope', 'tx:read')).trim().slice(3, 35);
    await node.cli('keys', 'revoke', `ls_${id}`);
    await node.cli('accounts', 'create', 'bank', '--streams', '3');
    await node.cli('accounts', 'limits', 'bank', '--streams', 'off', '--bytes-per-second', '1mb');
    await node.cli('accounts', 'disable', 'bank');
    await node.cli('accounts', 'enable', 'bank');
    const done = (await entries('&actor=command-line'))
      .slice(0, 6)
      .map(({ action, object, detail }) => [action, object, detail]);
    const limits = { streams: null, bytesPerSecond: 1_048_576 };
    expect(done.reverse()).toMatchObject([
      ['createKey', expect.stringMatching(/^key:/), { name: 'x', scopes: ['tx:read'] }],
      ['revokeKey', expect.stringMatching(/^key:/), {}],
      ['createAccount', 'account:bank', { limits: { streams: 3 } }],
      ['setAccountLimits', 'account:bank', { limits }],
      ['disableAccount', 'account:bank', {}],
      ['enableAccount', 'account:bank', {}],
    ]);
  });

  it('is read by actor, action, object and time, in pages', async () => {
    const all = await entries();
    const { object } = all.find(({ action }) => action === 'rotateKey') ?? { object: '' };
    const about = await entries(`&object=${encodeURIComponent(object)}`);
    expect(about.map(({ action }) => action)).toEqual(['rotateKey', 'createKey']);
    expect((await entries('&action=stopSigners')).map(({ action }) => action)).toEqual(['stopSigners']);
    const [newest, second] = [all[0], all[1]];
    const time = encodeURIComponent(newest?.at ?? '');
    expect((await entries(`&since=${time}`)).map(({ seq }) => seq)).toEqual([newest?.seq]);
    expect((await entries(`&until=${time}`))[0]?.seq).toBe(second?.seq);
    const paged: Entry[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: HttpAnswer<{ items: Entry[]; nextCursor: string | null }> = await ask(
        'GET',
        `/audit?limit=7${cursor && `&cursor=${cursor}`}`,
      );
      paged.push(...page.body.items);
      cursor = page.body.nextCursor;
    }
    expect(paged).toEqual(all);
    expect(await ask('GET', '/audit?cursor=nonsense')).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
  });

  it('shows an account what its own callers did', async () => {
    const { status } = await ask('POST', '/keys', KEY, shop);
    expect(status).toBe(201);
    const own = await entries('', shop);
    expect(own).toEqual([expect.objectContaining({ action: 'createKey', account: 'shop' })]);
    expect((await entries()).map(({ seq }) => seq)).toContain(own[0]?.seq);
  });
});

describe('accounts', () => {
  it('are made, read, limited and disabled by the operators only, as policies are, and another one sees itself', async () => {
    for (const [method, path, body] of [
      ['POST', '/accounts', { name: 'more' }],
      ['PUT', '/accounts/shop/limits', {}],
      ['POST', '/accounts/bank/disable', {}],
      ['POST', '/accounts/shop/enable', {}],
      ['PUT', policy, { version: 2, rules: {} }],
      ['DELETE', `${policy}?version=2`, undefined],
      ['GET', policy, undefined],
      ['GET', `${policy}/versions`, undefined],
      ['GET', '/policies', undefined],
    ] as const)
      expect(await ask(method, path, body, shop)).toMatchObject({ status: 403, body: { code: 'operators_only' } });
    for (const name of ['bank', 'default', 'nobody', 'two words'])
      expect(await ask('GET', `/accounts/${encodeURIComponent(name)}`, undefined, shop)).toMatchObject({
        status: 404,
        body: { code: 'account_not_found' },
      });
    expect(await ask('GET', '/accounts/shop', undefined, shop)).toMatchObject({ status: 200, body: { limits: null } });
    const namesFor = async (key: string, query = ''): Promise<unknown> => {
      const { body } = await ask<{ items: { name: string }[]; nextCursor: string | null }>(
        'GET',
        `/accounts?${query}`,
        undefined,
        key,
      );
      return [body.items.map(({ name }) => name), body.nextCursor];
    };
    expect(await namesFor(shop)).toEqual([['shop'], null]);
    expect(await namesFor(admin)).toEqual([['bank', 'default', 'made', 'shop'], null]);
    const [first, cursor] = (await namesFor(admin, 'limit=2')) as [string[], string];
    expect([first, await namesFor(admin, `limit=2&cursor=${cursor}`)]).toEqual([
      ['bank', 'default'],
      [['made', 'shop'], null],
    ]);
    expect(await ask('POST', '/accounts', { name: 'shop' })).toMatchObject({
      status: 409,
      body: { code: 'account_exists' },
    });
    expect(await ask('POST', '/accounts/default/disable', {})).toMatchObject({
      status: 409,
      body: { code: 'default_account' },
    });
    expect(await ask('PUT', '/accounts/shop/limits', { streams: 0 })).toMatchObject({ status: 400 });
    const noLimits = await ask('POST', '/accounts', { name: 'none', limits: {} });
    expect(noLimits).toMatchObject({ status: 201, body: { limits: null } });
  });

  it('have changed limits at every node within seconds', async () => {
    const policies = async (): Promise<unknown[]> =>
      Promise.all(
        nodes.map(async (node) => (await node.call('GET', '/api/v1/chains', shop)).headers.get('ratelimit-policy')),
      );
    const limited = (perFiveSeconds: number): string => `"requests";q=${perFiveSeconds};w=5`;
    const changed = async (limits: object, policy: string | null): Promise<void> => {
      expect(await ask('PUT', '/accounts/shop/limits', limits)).toMatchObject({ status: 200 });
      await until('both nodes know', async () => (await policies()).every((one) => one === policy), 2_000);
    };
    expect(await policies()).toEqual([limited(4_500), limited(4_500)]);
    await changed({ requestsPerSecond: 800 }, limited(4_000));
    await changed({ requestsPerSecond: null }, null);
    await changed({}, limited(4_500));
  });

  it('that are disabled have no keys at any node within seconds, until they are enabled', async () => {
    expect(await ask('POST', '/accounts/shop/disable')).toMatchObject({ body: { disabledAt: expect.any(String) } });
    for (const node of nodes) await takes(node, shop, 401);
    expect(await ask('POST', '/accounts/shop/enable')).toMatchObject({ body: { disabledAt: null } });
    for (const node of nodes) await takes(node, shop, 200);
  });
});

it('who paused a signer, and why, is told to nobody else', async () => {
  const { body: mine } = await ask<{ paused: Body }>('POST', `${signer}/pause`, { reason: 'a secret reason' }, shop);
  const { by } = mine.paused;
  expect(by).toMatch(/^key:/);
  const listed = async (key: string): Promise<unknown> => {
    const { body } = await ask<{ items: Body[] }>('GET', '/stops', undefined, key);
    return body.items.map((stop) => stop['by']);
  };
  const reader = (await ask('POST', '/keys', { name: 'reader', scopes: ['tx:read'] })).body['key'];
  expect([await listed(shop), await listed(admin), await listed(String(reader))]).toEqual([[by], [by], [null]]);
  const ready = JSON.stringify((await nodes[0].get('/health/ready')).body);
  expect([ready.includes('signers are paused'), ready.includes('secret'), ready.includes(String(by))]).toEqual([
    true,
    false,
    false,
  ]);
  await ask('POST', `${signer}/resume`, {}, shop);
});

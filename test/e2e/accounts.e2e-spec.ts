import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

type Body = Record<string, unknown>;
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}
interface Account {
  readonly key: string;
  /** Of its tx, its webhook endpoint and a delivery of that. */
  readonly txId: string;
  readonly webhook: string;
  readonly received: string[];
  readonly receiver: Server;
}

const [SIGNER, OTHER] = DEV_ACCOUNTS;
const REQUEST = { signer: SIGNER, requestId: 'invoice-1', payload: { to: OTHER, value: '1' } };

let anvil: RunningAnvil;
let database: TestDatabase;
let node: Service;
let shop: Account;
let bank: Account;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--block-time', '1'] }), createTestDatabase()]);
  node = await Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: { auth: { mode: 'apiKeys' }, webhooks: { allow: ['127.0.0.1/32'] }, confirmations: { required: 1 } },
  });
  // One after the other: the first tx of the signer is of the bank.
  bank = await anAccount('bank');
  shop = await anAccount('shop');
});
afterAll(async () => {
  for (const one of [shop, bank]) one.receiver.close();
  await node.stop();
  await anvil.stop();
  await database.drop();
});

/** A key of all scopes, a tx with the same requestId as the other account has, and a webhook endpoint. */
async function anAccount(name: string): Promise<Account> {
  await node.cli('accounts', 'create', name);
  const key = (await node.cli('keys', 'create', '--account', name, '--name', name, '--all-scopes')).trim();
  await until('the key is taken', async () => (await node.call('GET', '/api/v1/chains', key)).status === 200);
  const received: string[] = [];
  const receiver = createServer((request, answer) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      received.push(text);
      answer.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as { port: number };
  const webhook = await node.call<{ id: string }>('POST', '/api/v1/webhooks', key, {
    url: `http://127.0.0.1:${port}/`,
  });
  expect(webhook.status).toBe(201);
  const created = await node.call<{ txId: string }>('POST', '/api/v1/tx', key, REQUEST);
  expect(created.status).toBe(202);
  const { txId } = created.body;
  await until('it is confirmed', async () => {
    const { body } = await node.call<Body>('GET', `/api/v1/tx/${txId}`, key);
    return body['state'] === 'CONFIRMED';
  });
  return { key, txId, webhook: webhook.body.id, received, receiver };
}

const ask = (method: string, path: string, { key }: Account, body?: unknown): Promise<HttpAnswer<Body>> =>
  node.call<Body>(method, path, key, body);

/** Whether anything of the other account is in what an account is told. */
const tells = ({ body }: HttpAnswer<Body>, { txId, webhook }: Account): boolean => {
  const text = JSON.stringify(body);
  return text.includes(txId) || text.includes(webhook);
};

describe('two accounts that share a signer', () => {
  it('have a transaction each for one requestId, and get it again', async () => {
    expect(shop.txId).not.toBe(bank.txId);
    for (const one of [shop, bank]) {
      const again = await ask('POST', '/api/v1/tx', one, REQUEST);
      expect([again.status, again.body['txId']]).toEqual([200, one.txId]);
      const query = `signer=${SIGNER}&requestId=invoice-1`;
      expect((await ask('GET', `/api/v1/tx/by-request?${query}`, one)).body['txId']).toBe(one.txId);
    }
  });

  it('do not see each other in any operation of the document that names a transaction or a webhook', async () => {
    const { body } = await node.get<OpenApi>('/docs-json');
    const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    );
    const about = operations.filter(({ path }) => /\{txId\}|webhooks\/\{id\}/.test(path));
    expect(about.length).toBeGreaterThanOrEqual(17);
    const payload = { to: OTHER, value: '2' };
    for (const { method, path } of about) {
      const url = path.replace('{txId}', bank.txId).replace('{id}', bank.webhook).replace('{eventId}', '1-1-0');
      const body =
        method === 'GET' || method === 'DELETE'
          ? undefined
          : path.endsWith('replace')
            ? { requestId: 'r', payload }
            : {};
      const { status, body: problem } = await ask(method, url, shop, body);
      expect([method, path, status, problem['code']]).toEqual([
        method,
        path,
        404,
        path.includes('{txId}') ? 'tx_not_found' : 'webhook_not_found',
      ]);
    }
  });

  it('do not see each other in lists and pages of events', async () => {
    const paths = [
      '/api/v1/tx',
      `/api/v1/tx?signer=${SIGNER}`,
      '/api/v1/tx?chainId=31337',
      '/api/v1/tx?state=CONFIRMED',
      `/api/v1/tx?state=CONFIRMED&signer=${SIGNER}`,
      '/api/v1/webhooks',
      '/api/v1/events?after=0-0-0',
      `/api/v1/events?after=0-0-0&signer=${SIGNER}`,
    ];
    for (const [one, other] of [
      [shop, bank],
      [bank, shop],
    ] as const) {
      for (const path of paths) {
        const answer = await ask('GET', path, one);
        expect([path, answer.status, tells(answer, one), tells(answer, other)]).toEqual([path, 200, true, false]);
      }
      const named = await ask('GET', `/api/v1/events?after=0-0-0&txId=${other.txId}`, one);
      expect(named.body['items']).toEqual([]);
    }
  });

  it('do not see each other in a stream', async () => {
    const response = await fetch(`${node.url}/api/v1/events?after=0-0-0`, {
      headers: { authorization: `Bearer ${shop.key}`, accept: 'text/event-stream' },
    });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('tx.confirmed')) text += new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    expect([text.includes(shop.txId), text.includes(bank.txId)]).toEqual([true, false]);
  });

  it('get their own webhooks, and cannot name those of each other as a callback', async () => {
    for (const [one, other] of [
      [shop, bank],
      [bank, shop],
    ] as const) {
      await until('it was told', async () => one.received.some((text) => text.includes('tx.confirmed')));
      expect(one.received.join().includes(other.txId)).toBe(false);
      const { status, body } = await ask('POST', '/api/v1/tx', one, {
        ...REQUEST,
        requestId: 'c',
        callback: other.webhook,
      });
      expect([status, body['code']]).toEqual([422, 'unknown_webhook']);
      const replay = await ask('POST', `/api/v1/webhooks/${one.webhook}/replay`, one, {
        since: '2020-01-01T00:00:00Z',
      });
      expect(replay.status).toBe(200);
    }
  });

  it('both pause, resume and sync it, and each is told who did it only of its own', async () => {
    const path = `/api/v1/signers/31337/${SIGNER}`;
    const by = async (one: Account): Promise<unknown> => {
      const stops = await ask('GET', '/api/v1/stops', one);
      return (stops.body['items'] as Body[]).map((stop) => stop['by']);
    };
    expect((await ask('POST', `${path}/pause`, shop, { reason: 'a drill' })).status).toBe(200);
    expect([await by(shop), await by(bank)]).toEqual([[expect.stringMatching(/^key:/)], [null]]);
    const held = await ask('POST', '/api/v1/tx', bank, { ...REQUEST, requestId: 'held' });
    const waiting = await ask('GET', `/api/v1/tx/${String(held.body['txId'])}`, bank);
    expect(waiting.body).toMatchObject({ state: 'PENDING', subState: 'SIGNER_PAUSED' });
    const explained = await ask('GET', `/api/v1/tx/${String(held.body['txId'])}/explain`, bank);
    expect(JSON.stringify(explained.body)).toContain('a drill');
    // A sync reads the chain, and changes nothing of what is right.
    expect((await ask('POST', `${path}/sync`, bank)).status).toBe(200);
    expect((await ask('POST', `${path}/resume`, bank, {})).body['paused']).toBeNull();
    await until('it goes on', async () => {
      const { body } = await ask('GET', `/api/v1/tx/${String(held.body['txId'])}`, bank);
      return body['state'] === 'CONFIRMED';
    });
    const actions = async (one: Account): Promise<unknown[]> =>
      ((await ask('GET', '/api/v1/audit', one)).body['items'] as Body[])
        .filter(({ object }) => String(object).startsWith('signer:'))
        .map(({ action }) => action);
    expect([await actions(shop), await actions(bank)]).toEqual([['pauseSigner'], ['resumeSigner', 'syncSigner']]);
  });

  it('are named in the history of what they did', async () => {
    const { body } = await ask('GET', `/api/v1/tx/${shop.txId}/history`, shop);
    const [first, second] = body['items'] as readonly { actor: string | null }[];
    expect([first?.actor, second?.actor]).toEqual([expect.stringMatching(/^key:/), null]);
  });
});

it('an account manages its own keys only, and the operators those of all', async () => {
  const admin = (await node.cli('keys', 'create', '--name', 'operator', '--all-scopes')).trim();
  await until('the key is taken', async () => (await node.call('GET', '/api/v1/chains', admin)).status === 200);
  const idOf = (key: string): string => /^ls_([0-9a-f]{32})/.exec(key)?.[0] ?? '';
  const ids = async (key: string): Promise<string[]> => {
    const { body } = await node.call<{ items: { prefix: string }[] }>('GET', '/api/v1/keys', key);
    return body.items.map(({ prefix }) => prefix);
  };
  expect(await ids(shop.key)).toEqual([idOf(shop.key)]);
  expect((await ids(admin)).sort()).toEqual([shop.key, bank.key, admin].map(idOf).sort());
  for (const other of [bank.key, admin]) {
    const path = `/api/v1/keys/${idOf(other)}`;
    for (const [method, url] of [
      ['GET', path],
      ['POST', `${path}/rotate`],
      ['POST', `${path}/revoke`],
    ] as const) {
      const { status, body } = await ask(method, url, shop, method === 'GET' ? undefined : {});
      expect([url, status, body['code']]).toEqual([url, 404, 'key_not_found']);
    }
  }
  const made = await ask('POST', '/api/v1/keys', shop, { name: 'more', scopes: ['tx:read'] });
  const { status } = await node.call('GET', `/api/v1/tx/${shop.txId}`, String(made.body['key']));
  expect([status, await ids(shop.key)]).toEqual([200, [String(made.body['prefix']), idOf(shop.key)]]);
});

it('no key of a disabled account is taken, and each is again when it is enabled', async () => {
  const takes = async (status: number): Promise<void> =>
    until(`GET answers ${status}`, async () => (await ask('GET', '/api/v1/chains', bank)).status === status);
  expect(JSON.parse(await node.cli('accounts', 'disable', 'bank'))).toMatchObject({ disabledAt: expect.any(String) });
  await takes(401);
  expect((await ask('GET', '/api/v1/chains', shop)).status).toBe(200);
  await node.cli('accounts', 'enable', 'bank');
  await takes(200);
  const names = (await node.cli('accounts', 'list'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name);
  expect(names).toEqual(['bank', 'default', 'shop']);
  await expect(node.cli('accounts', 'disable', 'default')).rejects.toThrow('account of the operators');
  await expect(node.cli('accounts', 'create', 'shop')).rejects.toThrow('there is an account shop');
  await expect(node.cli('accounts', 'create', 'two words')).rejects.toThrow('100 letters');
  await expect(node.cli('keys', 'create', '--account', 'nobody', '--name', 'x', '--all-scopes')).rejects.toThrow(
    'no account nobody',
  );
});

describe('a stop of an account', () => {
  it('is for operators, keeps its transactions waiting and no others, and is told to it, and why', async () => {
    const operator = { ...bank, key: (await node.cli('keys', 'create', '--name', 'operator', '--all-scopes')).trim() };
    await until('the key is taken', async () => (await ask('GET', '/api/v1/chains', operator)).status === 200);
    const stop = { account: 'shop', reason: 'a key was stolen' };
    for (const way of ['stop', 'go'])
      expect((await ask('POST', `/api/v1/${way}`, shop, { account: 'shop' })).body['code']).toBe('operators_only');
    expect((await ask('POST', '/api/v1/stop', operator, { account: 'nobody' })).body['code']).toBe('account_not_found');
    expect(await ask('POST', '/api/v1/stop', operator, stop)).toMatchObject({ status: 200, body: stop });
    const sent = async (by: Account): Promise<string> =>
      String((await ask('POST', '/api/v1/tx', by, { ...REQUEST, requestId: 'stopped' })).body['txId']);
    const [waits, goesOn] = [await sent(shop), await sent(bank)];
    const read = async (txId: string, by: Account) => (await ask('GET', `/api/v1/tx/${txId}`, by)).body;
    await until('the other one is final', async () => (await read(goesOn, bank))['state'] === 'CONFIRMED');
    expect(await read(waits, shop)).toMatchObject({ state: 'PENDING', subState: 'ACCOUNT_STOPPED' });
    expect((await ask('GET', `/api/v1/tx/${waits}/explain`, shop)).body).toMatchObject({
      summary: expect.stringContaining('account shop is stopped since'),
    });
    const stops = async (by: Account) => (await ask('GET', '/api/v1/stops', by)).body['items'];
    expect(await stops(operator)).toMatchObject([{ ...stop, by: expect.stringContaining('key:') }]);
    expect(await stops(shop)).toMatchObject([{ ...stop, by: null }]);
    expect(await stops(bank)).toEqual([]);
    expect((await node.get('/health/ready')).body).toMatchObject({ details: { signers: { status: 'up' } } });
    expect((await ask('GET', '/api/v1/audit?object=account:shop', operator)).body['items']).toContainEqual(
      expect.objectContaining({ action: 'stopSigners', detail: { reason: stop.reason } }),
    );
    expect((await ask('POST', '/api/v1/go', operator, { account: 'shop' })).status).toBe(204);
    await until('it is final, too', async () => (await read(waits, shop))['state'] === 'CONFIRMED');
  });
});

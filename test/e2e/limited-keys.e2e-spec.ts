import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { SCOPES } from '../../src/kernel/caller.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { type GuardedOperation, guardedOperations } from '../support/guarded-operations.js';
import { type AnyBody, type HttpAnswer, Service } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [SIGNER, OTHER] = DEV_ACCOUNTS.map((address) => address.toLowerCase()) as [string, string];
const HOLD = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const PAYLOAD = { to: OTHER, value: '1' };
const REQUEST = { signer: SIGNER, requestId: 'first', payload: PAYLOAD };
const LIMITS = { signers: [{ chainId: DEV_CHAIN, address: SIGNER }] };
const FILTERS = { chainIds: [DEV_CHAIN], signers: [SIGNER] };

let anvil: RunningAnvil;
let database: TestDatabase;
let node: Service;
/** Of keys: without limits, limited to SIGNER, to OTHER, and to another chain. */
let free: string;
let own: string;
let ofSigner: string;
let ofChain: string;
/** What there is of SIGNER. */
let txId: string;
let webhook: string;
let keyId: string;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ extraArgs: ['--no-mining'] }), createTestDatabase()]);
  node = await Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: { auth: { mode: 'apiKeys' }, webhooks: { allow: ['127.0.0.1/32'] } },
  });
  const make = async (...limits: string[]): Promise<string> =>
    (await node.cli('keys', 'create', '--name', 'x', '--all-scopes', ...limits)).trim();
  [free, ofSigner] = await Promise.all([
    make(),
    make('--signer', `${DEV_CHAIN}:${OTHER}`, '--chain', String(DEV_CHAIN)),
  ]);
  await until('the key is taken', async () => (await ask('GET', '/api/v1/chains', free)).status === 200);
  const limited = async (limits: object): Promise<string> =>
    String((await ask('POST', '/api/v1/keys', free, { name: 'x', scopes: SCOPES, ...limits })).body['key']);
  [own, ofChain] = [await limited(LIMITS), await limited({ chainIds: [7] })];
  for (const key of [free, own, ofSigner, ofChain])
    await until('the key is taken', async () => (await ask('GET', '/api/v1/chains', key)).status === 200);
  txId = String((await ask('POST', '/api/v1/tx', free, REQUEST)).body['txId']);
  const url = 'http://127.0.0.1:9/';
  webhook = String((await ask('POST', '/api/v1/webhooks', free, { url, ...FILTERS })).body['id']);
  const reader = { name: 'limited', scopes: ['tx:read'], ...LIMITS };
  keyId = String((await ask('POST', '/api/v1/keys', free, reader)).body['id']);
  await until('it was sent', async () => (await ask('GET', `/api/v1/tx/${txId}`, own)).body['state'] === 'IN_MEMPOOL');
  expect((await ask('POST', `/api/v1/signers/${DEV_CHAIN}/${SIGNER}/pause`, own, {})).status).toBe(200);
});
afterAll(async () => {
  await node.stop();
  await anvil.stop();
  await database.drop();
});

function ask(method: string, path: string, key: string, body?: unknown): Promise<HttpAnswer<AnyBody>> {
  return node.call(method, path, key, body);
}

/** Bodies that name SIGNER, where one is needed to be heard. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /api/v1/tx': { ...REQUEST, requestId: 'again' },
  'POST /api/v1/tx/batch': { items: [{ ...REQUEST, requestId: 'batch' }] },
  'POST /api/v1/tx/simulate': REQUEST,
  'POST /api/v1/tx/{txId}/replace': { requestId: 'replace', payload: PAYLOAD },
  'POST /api/v1/signers/{chainId}/{address}/nonces': { requestId: 'hold' },
  'POST /api/v1/signers/{chainId}/{address}/nonces/release': { holdId: HOLD },
  'POST /api/v1/signers/{chainId}/{address}/nonces/{nonce}/consume': { holdId: HOLD, txHash: `0x${'ab'.repeat(32)}` },
  'POST /api/v1/signers/{chainId}/{address}/nonces/{nonce}/release': { holdId: HOLD },
  'POST /api/v1/signers/{chainId}/{address}/nonces/{nonce}/extend': { holdId: HOLD, ttl: 60 },
  'POST /api/v1/signers/{chainId}/{address}/nonces/{nonce}/close': { holdId: HOLD, reason: 'why' },
  'POST /api/v1/signers/{chainId}/{address}/sign-typed-data': {
    ...{ domain: { chainId: DEV_CHAIN }, types: { Note: [] }, primaryType: 'Note', message: {} },
  },
  'POST /api/v1/accounts': { name: 'more' },
  'POST /api/v1/keys': { name: 'more', scopes: ['tx:read'], ...LIMITS },
  'POST /api/v1/webhooks': { url: 'http://127.0.0.1:9/', ...FILTERS },
  'POST /api/v1/webhooks/{id}/replay': { since: '2020-01-01T00:00:00Z' },
  'POST /api/v1/stop': { chainId: DEV_CHAIN, signer: SIGNER },
  'POST /api/v1/go': { chainId: DEV_CHAIN, signer: SIGNER },
  'PUT /api/v1/policies/{chainId}/{address}': { version: 0, rules: {} },
};
const QUERIES: Readonly<Record<string, string>> = {
  '/api/v1/tx/by-request': `?chainId=${DEV_CHAIN}&signer=${SIGNER}&requestId=first`,
  '/api/v1/events': '?after=0-0-0',
  'DELETE /api/v1/policies/{chainId}/{address}': '?version=0',
};

/** @returns the code of a refusal; of another answer, whether it has anything of SIGNER, its tx, its endpoint or its key */
async function outcomeOf({ method, path }: GuardedOperation, key: string): Promise<string> {
  const id = path.startsWith('/api/v1/keys') ? keyId : webhook;
  const values: Record<string, string> = {
    txId,
    id,
    eventId: '1-1-0',
    chainId: String(DEV_CHAIN),
    address: SIGNER,
    nonce: '0',
    name: 'default',
  };
  const url =
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '') +
    (QUERIES[path] ?? QUERIES[`${method} ${path}`] ?? '');
  const sent = BODIES[`${method} ${path}`] ?? (method === 'GET' || method === 'DELETE' ? undefined : {});
  const { status, body } = await ask(method, url, key, sent);
  const item = path.endsWith('/batch') ? (body['items'] as AnyBody[])[0] : undefined;
  const problem = item ? (item['problem'] as AnyBody | undefined) : status >= 400 ? body : undefined;
  if (problem) return String(problem['code']);
  const text = JSON.stringify(body);
  return [SIGNER, txId, webhook, keyId].some((word) => text.includes(word)) ? 'told' : 'not told';
}

/** What is not there for whoever may not use SIGNER, by its path; a list is there, and has nothing. A new path has to join one of these. */
const HIDDEN: readonly (readonly [path: RegExp, code: string])[] = [
  [/^\/api\/v1\/tx\/(\{txId\}|by-request)/, 'tx_not_found'],
  [/^\/api\/v1\/webhooks\/\{id\}/, 'webhook_not_found'],
  [/^\/api\/v1\/keys\/\{id\}/, 'key_not_found'],
  [/^\/api\/v1\/signers\/\{chainId\}\/\{address\}/, 'unknown_signer'],
  [/^\/api\/v1\/chains\/\{chainId\}/, 'unknown_chain'],
];

/** What is about all signers: whoever is limited to some may not change it, and is told nothing of SIGNER. */
const ABOUT_ALL = /^\/api\/v1\/(accounts|audit|policies)/;
/** Not even read. */
const UNREAD = /^\/api\/v1\/(audit|policies)/;

/** @returns what keys of other signers hear */
function refusalOf({ method, path }: GuardedOperation): string {
  const hidden = HIDDEN.find(([pattern]) => pattern.test(path))?.[1];
  return hidden ?? (method === 'GET' && !UNREAD.test(path) ? 'not told' : 'outside_limits');
}

describe('each operation of the document', () => {
  it('about a signer is not there for keys that are limited to another signer, or to another chain', async () => {
    const all = await guardedOperations(node);
    // Last what ends the things that the others are about.
    const ends = ({ method, path }: GuardedOperation): number =>
      method === 'DELETE' || /revoke|go$/.test(path) ? 1 : 0;
    for (const operation of [...all].sort((a, b) => ends(a) - ends(b))) {
      const refusal = refusalOf(operation);
      const isOfChain = operation.path.startsWith('/api/v1/chains');
      const [signer, chain] = [await outcomeOf(operation, ofSigner), await outcomeOf(operation, ofChain)];
      expect([operation, signer, chain]).toEqual([operation, isOfChain ? 'not told' : refusal, refusal]);
      const mine = await outcomeOf(operation, own);
      if (ABOUT_ALL.test(operation.path)) expect([operation, mine]).toEqual([operation, refusal]);
      else if (isOfChain) expect([operation, mine]).toEqual([operation, 'not told']);
      else if (refusal === 'not told') expect([operation, mine]).toEqual([operation, 'told']);
      else expect([operation, mine]).not.toEqual([operation, refusal]);
    }
  });

  it('about a chain is there for keys of its signers', async () => {
    const ids = async (key: string): Promise<unknown[]> =>
      ((await ask('GET', '/api/v1/chains', key)).body['items'] as AnyBody[]).map(({ chainId }) => chainId);
    expect([await ids(free), await ids(ofSigner), await ids(ofChain)]).toEqual([[DEV_CHAIN], [DEV_CHAIN], []]);
  });
});

describe('a limited key', () => {
  it('is told in streams and pages of its own signers only', async () => {
    const other = await ask('POST', '/api/v1/tx', ofSigner, { ...REQUEST, signer: OTHER });
    expect(other.status).toBe(202);
    const theirs = String(other.body['txId']);
    const stream = await StreamClient.open(`${node.url}/api/v1/events?after=0-0-0`, {
      authorization: `Bearer ${ofSigner}`,
    });
    await until('it was told', async () => stream.frames.some(({ event }) => event === 'tx.submitted'));
    stream.close();
    const told = JSON.stringify(stream.frames);
    expect([told.includes(theirs), told.includes(txId), told.includes(SIGNER)]).toEqual([true, false, false]);
    const page = JSON.stringify((await ask('GET', '/api/v1/events?after=0-0-0', free)).body);
    expect([page.includes(theirs), page.includes(txId)]).toEqual([true, true]);
  });

  it('stops its own signers only, and none beside them', async () => {
    for (const scope of [
      {},
      { chainId: DEV_CHAIN },
      { signer: OTHER },
      { chainId: DEV_CHAIN, signer: SIGNER },
      { account: 'default' },
    ])
      for (const way of ['stop', 'go'])
        expect([scope, (await ask('POST', `/api/v1/${way}`, ofSigner, scope)).body['code']]).toEqual([
          scope,
          'outside_limits',
        ]);
    const scope = { chainId: DEV_CHAIN, signer: OTHER };
    expect((await ask('POST', '/api/v1/stop', ofSigner, scope)).status).toBe(200);
    expect((await ask('POST', '/api/v1/go', ofSigner, scope)).status).toBe(204);
  });

  it('makes no key, and no endpoint, that sees more; and a rotation keeps its limits', async () => {
    const grant = { name: 'wide', scopes: ['tx:read'] };
    const url = 'http://127.0.0.1:9/';
    for (const limits of [{}, { chainIds: [DEV_CHAIN] }, LIMITS])
      expect((await ask('POST', '/api/v1/keys', ofSigner, { ...grant, ...limits })).body['code']).toBe(
        'outside_limits',
      );
    for (const filters of [{}, { chainIds: [DEV_CHAIN] }, { signers: [OTHER] }, FILTERS])
      expect((await ask('POST', '/api/v1/webhooks', ofSigner, { url, ...filters })).body['code']).toBe(
        'outside_limits',
      );
    const endpoint = await ask('POST', '/api/v1/webhooks', ofSigner, { url, chainIds: [DEV_CHAIN], signers: [OTHER] });
    expect(endpoint.status).toBe(201);
    const wider = await ask('PATCH', `/api/v1/webhooks/${String(endpoint.body['id'])}`, ofSigner, { signers: null });
    expect([wider.status, wider.body['code']]).toEqual([403, 'outside_limits']);
    const signers = [{ chainId: DEV_CHAIN, address: OTHER }];
    const made = await ask('POST', '/api/v1/keys', ofSigner, { ...grant, scopes: SCOPES, signers });
    expect(made.body).toMatchObject({ signers, chainIds: [DEV_CHAIN] });
    const rotated = await ask('POST', `/api/v1/keys/${String(made.body['id'])}/rotate`, ofSigner, {});
    expect(rotated.body).toMatchObject({ signers, chainIds: [DEV_CHAIN] });
    expect((await ask('GET', `/api/v1/tx/${txId}`, String(rotated.body['key']))).status).toBe(404);
    const lines = (await node.cli('keys', 'list')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as AnyBody)).toContainEqual(
      expect.objectContaining({ id: rotated.body['id'], signers: [`${DEV_CHAIN}:${OTHER}`], chainIds: [DEV_CHAIN] }),
    );
  });

  it('is not made with a typo', async () => {
    const typo = '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    const cli = (...limit: string[]): Promise<string> =>
      node.cli('keys', 'create', '--name', 'x', '--all-scopes', ...limit);
    await expect(cli('--signer', `${DEV_CHAIN}:${typo}`)).rejects.toThrow('checksum');
    await expect(cli('--signer', SIGNER)).rejects.toThrow('1:0x');
    await expect(cli('--chain', 'mainnet')).rejects.toThrow('chain id');
    const signers = [{ chainId: DEV_CHAIN, address: typo }];
    const { body } = await ask('POST', '/api/v1/keys', free, { name: 'x', scopes: ['tx:read'], signers });
    expect(body['code']).toBe('invalid_checksum');
  });
});

describe('a key that is made by another', () => {
  it('does not last longer than that one', async () => {
    const endsAt = new Date(Date.now() + 3_600_000);
    const grant = { name: 'x', scopes: ['keys:admin', 'tx:read'] };
    const maker = await ask('POST', '/api/v1/keys', free, { ...grant, expiresAt: endsAt.toISOString() });
    const key = String(maker.body['key']);
    const later = new Date(endsAt.getTime() + 1).toISOString();
    for (const expiresAt of [undefined, null, later])
      expect((await ask('POST', '/api/v1/keys', key, { ...grant, expiresAt })).body).toMatchObject({
        code: 'outlives_maker',
        facts: { endsAt: endsAt.toISOString() },
      });
    const same = await ask('POST', '/api/v1/keys', key, { ...grant, expiresAt: endsAt.toISOString() });
    expect(same.status).toBe(201);
    const rotate = `/api/v1/keys/${String(maker.body['id'])}/rotate`;
    expect((await ask('POST', rotate, key, { expiresAt: later })).body['code']).toBe('outlives_maker');
    const endless = await ask('POST', '/api/v1/keys', free, grant);
    expect((await ask('POST', `/api/v1/keys/${String(endless.body['id'])}/rotate`, key, {})).status).toBe(403);
    expect((await ask('POST', rotate, key, {})).status).toBe(200);
  });

  it('belongs to the account that an operator names, and nobody else names one', async () => {
    const shop = JSON.parse(await node.cli('accounts', 'create', 'shop')) as AnyBody;
    const grant = { name: 'till', scopes: ['keys:admin', 'tx:read'] };
    const made = await ask('POST', '/api/v1/keys', free, { ...grant, account: 'shop' });
    expect([made.status, made.body['accountId']]).toEqual([201, shop['id']]);
    const key = String(made.body['key']);
    expect((await ask('GET', `/api/v1/tx/${txId}`, key)).status).toBe(404);
    for (const account of ['default', 'shop', 'nobody']) {
      const { status, body } = await ask('POST', '/api/v1/keys', key, { ...grant, account });
      expect([account, status, body['code']]).toEqual([account, 403, 'operators_only']);
    }
    const { status, body } = await ask('POST', '/api/v1/keys', free, { ...grant, account: 'nobody' });
    expect([status, body['code']]).toEqual([404, 'account_not_found']);
  });
});

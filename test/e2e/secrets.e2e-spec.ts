import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { SCOPES } from '../../src/kernel/caller.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { devWallet } from '../support/dev-wallets.js';
import { SecretSearch } from '../support/secret-search.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { sendStrange, StrangeRequests } from '../support/strange-requests.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { SigningKey, TokenIssuer } from '../support/token-issuer.js';
import { until } from '../support/until.js';
import { WEBHOOK_KEY } from '../support/webhook-secrets.js';
import { Receiver } from '../unit/webhooks/sender-lab.js';

const [SIGNER, OTHER] = DEV_ACCOUNTS;
/** So many with a key, and as many without one. */
const STRANGE = 150;
const NO_SUCH = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const ROLE = `secretive_${randomBytes(4).toString('hex')}`;
const search = new SecretSearch();
const random = (name: string): string => search.keep(name, randomBytes(24).toString('hex'));
const receiver = new Receiver();

let anvil: RunningAnvil;
let database: TestDatabase;
let issuer: TokenIssuer;
let services: readonly Service[];

beforeAll(async () => {
  [anvil, database, issuer] = await Promise.all([
    startAnvil({ blockTime: 0.3 }),
    createTestDatabase(),
    TokenIssuer.start(),
    receiver.start(),
  ]);
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, random('password of the database')];
  await asAdmin(`CREATE ROLE ${ROLE} LOGIN SUPERUSER PASSWORD '${url.password}'`);
  search.keep('mnemonic', DEV_MNEMONIC);
  search.keep('key that seals webhook secrets', WEBHOOK_KEY.toString('base64'));
  for (const index of [0, 1]) search.keep('key of a signer', devWallet(index).privateKey.slice(2));
  const forwardSecret = random('forward secret');
  const key = random('key of a signer') + randomBytes(8).toString('hex');
  const rpcUrl = `http://127.0.0.1:9/v3/${random('key in the URL of an endpoint')}`;
  const start = (auth: Record<string, unknown>, mode: string): Promise<Service> =>
    Service.start({
      databaseUrl: url.href,
      rpcUrl: anvil.url,
      config: {
        auth,
        logging: { level: 'debug' },
        node: { forwardSecret },
        execution: { mode },
        intake: { notLeader: 'forward' },
        webhooks: { allow: ['127.0.0.1/32'] },
      },
      chain: { rpcUrls: [anvil.url, rpcUrl] },
      moreChains: [{ id: 999, rpcUrls: [rpcUrl], signers: [{ type: 'privateKey', key: `0x${key}` }] }],
    });
  services = [
    await start({ mode: 'apiKeys' }, 'basic'),
    await start({ mode: 'jwt', jwt: issuer.config }, 'worker-queue'),
  ];
});
afterAll(async () => {
  await Promise.all(services.map((one) => one.stop()));
  await Promise.all([anvil.stop(), issuer.stop(), receiver.stop()]);
  await database.drop();
});

async function asAdmin(statement: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

type Ask = (method: string, path: string, body?: unknown) => Promise<HttpAnswer<Record<string, unknown>>>;

const askerOf =
  (service: Service, credential: string): Ask =>
  async (method, path, body) => {
    const answer = await service.call<Record<string, unknown>>(method, path, credential, body);
    search.answered([answer.body, [...answer.headers]]);
    return answer;
  };

/** What clients do, and get wrong. @param policies how many versions there are of the policy of the signer */
async function use(service: Service, credential: string, name: string, policies: number): Promise<void> {
  const ask = askerOf(service, credential);
  // The answers that make a secret are the only ones that show it.
  const hook = await service.call<{ id: string; secret: string }>('POST', '/api/v1/webhooks', credential, {
    url: receiver.url(),
  });
  const made = [
    hook,
    await service.call<{ id: string; secret: string }>(
      'POST',
      `/api/v1/webhooks/${hook.body.id}/rotate-secret`,
      credential,
      {},
    ),
  ];
  for (const { status, body } of made) {
    expect([status < 300, body.secret]).toEqual([true, expect.stringMatching(/^whsec_/)]);
    search.keep('secret of a webhook', body.secret.slice('whsec_'.length));
  }
  const tx = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    signer: SIGNER,
    chainId: DEV_CHAIN,
    requestId: name,
    payload: { to: OTHER, value: '1' },
    ...more,
  });
  const { body, status } = await ask('POST', '/api/v1/tx', tx());
  expect(status).toBe(202);
  expect((await ask('GET', `/api/v1/tx/${String(body['txId'])}?waitFor=CONFIRMED&timeoutMs=20000`)).body['state']).toBe(
    'CONFIRMED',
  );
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/api/v1/tx', tx({ requestId: `${name}-now`, allocate: 'now' })],
    ['POST', '/api/v1/tx', tx({ payload: { to: SIGNER, value: '2' } })],
    ['POST', '/api/v1/tx', tx({ requestId: `${name}-poor`, chainId: 999, signer: OTHER })],
    ['POST', '/api/v1/tx', { signer: 7, key: 'x' }],
    ['POST', '/api/v1/tx', []],
    ['POST', `/api/v1/tx/${NO_SUCH}/cancel`, {}],
    ['POST', `/api/v1/webhooks/${hook.body.id}/test`, {}],
    ['GET', '/api/v1/signers'],
    ['GET', '/api/v1/chains'],
    ['GET', '/api/v1/chains/999/fees'],
    ['GET', '/api/v1/events'],
    ['GET', `/api/v1/tx/${String(body['txId'])}/history`],
    ['GET', `/api/v1/tx/${String(body['txId'])}/explain`],
    ['GET', `/api/v1/webhooks/${hook.body.id}/deliveries`],
    ['GET', '/api/v1/webhooks'],
    ['GET', '/api/v1/keys'],
    ['GET', '/api/v1/nowhere'],
    ['GET', '/health/ready'],
    [
      'PUT',
      `/api/v1/policies/${DEV_CHAIN}/${SIGNER}`,
      { version: policies, rules: { maxValue: '9', dailyValue: '99' } },
    ],
    ['DELETE', `/api/v1/policies/${DEV_CHAIN}/${SIGNER}?version=${policies + 1}`],
    ['GET', `/api/v1/policies/${DEV_CHAIN}/${SIGNER}/versions`],
    ['GET', '/api/v1/policies'],
    ['POST', '/api/v1/accounts', { name, limits: { requestsPerSecond: 1_000 } }],
    ['POST', '/api/v1/tx/simulate', tx({ requestId: undefined })],
    ['GET', '/api/v1/audit'],
    ['POST', '/api/v1/stop', { reason: 'a drill' }],
    ['POST', '/api/v1/go', {}],
  ];
  for (const request of requests) await ask(...request);
  const withdrawn = await ask('GET', `/api/v1/policies/${DEV_CHAIN}/${SIGNER}`);
  expect(withdrawn.body).toMatchObject({ version: policies + 2, api: null });
}

it('lockstep signers check tells which signers are right, and what is wrong with the others', async () => {
  const told = async (...options: string[]): Promise<readonly string[]> => {
    // It exits with 1, because one chain has no endpoint that answers.
    const failure = await services[0]?.cli('signers', 'check', ...options).then(
      () => null,
      (error: unknown) => error as { code: number; stdout: string; stderr: string },
    );
    if (!failure) throw new TypeError('one of the signers is wrong');
    expect(failure.code).toBe(1);
    search.answered([failure.stdout, failure.stderr]);
    return failure.stdout.trim().split('\n');
  };
  const inWords = await told();
  expect(inWords).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^ok   ${DEV_CHAIN}:${SIGNER.toLowerCase()} mnemonic m/.*: a test signature recovers .* balance [1-9]\\d* wei; nonce \\d`,
      ),
    ),
  );
  expect(inWords.at(-1)).toMatch(/^FAIL 999:0x\w{40} privateKey: a test signature recovers .*; chain 999, /);
  const inJson = (await told('--json')).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(inJson).toContainEqual(
    expect.objectContaining({ isRight: true, chainId: DEV_CHAIN, address: SIGNER.toLowerCase(), problems: [] }),
  );
  expect(inJson.filter(({ isRight }) => isRight !== true).map(({ chainId }) => chainId)).toEqual([999]);
});

it('no log, answer, metric or row of all shows a secret that the run used', async () => {
  const [withKeys, withTokens] = services;
  if (withKeys === undefined || withTokens === undefined) throw new TypeError('two services run');
  const secretOf = (key: string): string => search.keep('key of the API', key.slice(-43)) && key;
  const key = secretOf((await withKeys.cli('keys', 'create', '--name', 'first', '--all-scopes')).trim());
  await until('the key is taken', async () => (await withKeys.call('GET', '/api/v1/chains', key)).status === 200);
  const other = await withKeys.call<{ key: string; id: string }>('POST', '/api/v1/keys', key, {
    name: 'other',
    scopes: ['tx:read'],
  });
  secretOf(other.body.key);
  const rotated = await withKeys.call<{ key: string }>('POST', `/api/v1/keys/${other.body.id}/rotate`, key, {});
  secretOf(rotated.body.key);
  await askerOf(withKeys, key)('POST', `/api/v1/keys/${other.body.key}/revoke`);
  const signatureOf = (token: string): string => search.keep('token', token.split('.')[2] ?? '') && token;
  const scope = SCOPES.join(' ');
  const token = signatureOf(issuer.token({ scope }));
  receiver.answer = (response) => response.writeHead(500).end('no');
  await use(withKeys, key, 'keys', 0);
  receiver.answer = (response) => response.end('ok');
  await use(withTokens, token, 'tokens', 2);
  for (const wrong of [
    signatureOf(issuer.token({ exp: 1 })),
    signatureOf(new SigningKey('unknown').token(issuer.claims({ scope }))),
    key,
  ])
    expect((await askerOf(withTokens, wrong)('GET', '/api/v1/chains')).status).toBe(401);
  expect((await askerOf(withKeys, token)('GET', '/api/v1/chains')).status).toBe(401);
  // What no client should send, with and without a key or a token.
  for (const [service, credential, seed] of [
    [withKeys, key, 11],
    [withTokens, token, 12],
  ] as const) {
    const requests = await StrangeRequests.of(service, seed);
    for (let n = 0; n < 2 * STRANGE; n += 1) {
      const asked = requests.next();
      const authorization = n < STRANGE ? { authorization: `Bearer ${credential}` } : {};
      const answer = await sendStrange(service.url, { ...asked, headers: { ...asked.headers, ...authorization } });
      search.answered(answer);
      expect(answer.status).not.toBe(500);
    }
  }
  // Their connections are cut, which both write about.
  await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`);
  for (const service of services) {
    await until('it is well again', async () => (await service.get('/health/ready')).status === 200);
    expect(service.warnings().length).toBeGreaterThan(0);
  }
  expect(receiver.received.length).toBeGreaterThan(1);
  await search.expectNone(database.url, services);
});

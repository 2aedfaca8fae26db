import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import { SCOPES } from '../../src/kernel/caller.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { guardedOperations, NOBODY, refusalOf, WITHOUT_SCOPE } from '../support/guarded-operations.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { signed, signedWithPublicKey, SigningKey, TokenIssuer } from '../support/token-issuer.js';
import { until } from '../support/until.js';

const [SIGNER, OTHER] = DEV_ACCOUNTS;
/** After the end of a token, for clocks that differ. */
const TOLERANCE_S = 10;
const ALL = SCOPES.join(' ');

let anvil: RunningAnvil;
let database: TestDatabase;
let issuer: TokenIssuer;
let node: Service;

beforeAll(async () => {
  [anvil, database, issuer] = await Promise.all([
    startAnvil({ extraArgs: ['--no-mining'] }),
    createTestDatabase(),
    TokenIssuer.start(),
  ]);
  issuer.keys = [new SigningKey('rsa', 'RS256')];
  const jwt = { ...issuer.config, accountClaim: 'tenant' };
  node = await Service.start({ databaseUrl: database.url, rpcUrl: anvil.url, config: { auth: { mode: 'jwt', jwt } } });
});
afterEach(() => {
  issuer.trouble = null;
});
afterAll(async () => {
  await node.stop();
  await Promise.all([anvil.stop(), issuer.stop()]);
  await database.drop();
});

const seconds = (): number => Math.floor(Date.now() / 1_000);
const token = (claims: Record<string, unknown> = {}): string => issuer.token({ tenant: 'default', ...claims });
const claims = () => issuer.claims({ tenant: 'default', scope: ALL });

async function codeOf(credential: string): Promise<unknown> {
  const { status, body } = await node.call('GET', '/api/v1/chains', credential);
  return status === 200 ? 'passes' : `${status} ${String(body['code'])}`;
}

describe('each operation of the document', () => {
  it('is for those who have a token with its scope, and a key is no token', async () => {
    const key = (await node.cli('keys', 'create', '--name', 'x', '--all-scopes')).trim();
    const nobody = {
      'no token': null,
      'a key': key,
      'an expired token': token({ scope: ALL, exp: seconds() - TOLERANCE_S }),
      'a token of another issuer': token({ scope: ALL, iss: 'https://other.test/' }),
      'a token for another audience': token({ scope: ALL, aud: 'other' }),
      'a token that is not valid yet': token({ scope: ALL, nbf: seconds() + 600 }),
      'a token that somebody else signed': new SigningKey('rsa', 'RS256').token(claims()),
      'a token that nobody signed': signed({ alg: 'none' }, claims(), () => Buffer.alloc(0)),
      'a token signed with the public key': signedWithPublicKey({ kid: 'rsa' }, claims(), issuer.keys[0]?.pem ?? ''),
    };
    const ask = node.call.bind(node)<Record<string, unknown>>;
    for (const operation of await guardedOperations(node)) {
      const { scope } = operation;
      const without = SCOPES.filter((one) => one !== scope);
      const rows: Record<string, unknown> = {};
      for (const [name, credential] of Object.entries(nobody)) rows[name] = await refusalOf(ask, operation, credential);
      expect([operation, rows]).toEqual([
        operation,
        Object.fromEntries(Object.keys(nobody).map((name) => [name, NOBODY])),
      ]);
      expect([operation, await refusalOf(ask, operation, token({ scope: without }))]).toEqual([
        operation,
        WITHOUT_SCOPE,
      ]);
      expect([operation, await refusalOf(ask, operation, token({ scope }))]).toEqual([operation, 'passes']);
    }
  });
});

it('who sent a stop is told by the subject of the token, and no key can be made', async () => {
  const operator = token({ sub: 'alice@example.com', scope: ALL });
  const stop = await node.call('POST', '/api/v1/stop', operator, { reason: 'a drill' });
  expect([stop.status, JSON.stringify(stop.body)]).toEqual([200, expect.stringContaining('token:alice@example.com')]);
  await node.call('POST', '/api/v1/go', operator, {});
  const key = await node.call('POST', '/api/v1/keys', operator, { name: 'x', scopes: ['tx:read'] });
  expect([key.status, key.body['code']]).toEqual([409, 'keys_not_in_use']);
});

it('a token of an account that does not exist or was disabled is refused, within seconds', async () => {
  expect(await codeOf(token({ tenant: 'shop' }))).toBe('403 unknown_account');
  expect(await codeOf(token({ tenant: undefined }))).toBe('401 unauthenticated');
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`INSERT INTO account (account_id, name) VALUES ('019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', 'shop')`);
  const shop = token({ tenant: 'shop' });
  await until('the account is known', async () => (await codeOf(shop)) === 'passes', 8_000);
  await client.query(`UPDATE account SET disabled_at = now() WHERE name = 'shop'`);
  await client.end();
  await until('it is refused', async () => (await codeOf(shop)) === '403 unknown_account', 8_000);
});

it('a new key of the issuer is taken without a restart, and the old one is refused in the end', async () => {
  const old = token();
  issuer.keys = [new SigningKey('next', 'EdDSA'), ...issuer.keys];
  await until('it is taken', async () => (await codeOf(token())) === 'passes', 8_000);
  expect(await codeOf(old)).toBe('passes');
  issuer.keys = issuer.keys.slice(0, 1);
  // A token of a key that nobody has has the keys read again, once the last time is some seconds ago.
  const unknown = new SigningKey('unknown').token(claims());
  const refused = async () => (await codeOf(unknown)) === '401 unauthenticated' && (await codeOf(old)) !== 'passes';
  await until('the old one is refused', refused, 8_000);
  expect(await codeOf(old)).toBe('401 unauthenticated');
});

it('known keys go on while the server of the keys is away, and tokens of others are told to come again', async () => {
  const [right, unknown] = [token(), new SigningKey('unknown').token(claims())];
  issuer.trouble = 'down';
  await until('the keys could not be read', async () => (await codeOf(unknown)) === '503 auth_unavailable', 8_000);
  const { headers, body } = await node.call('GET', '/api/v1/chains', unknown);
  expect([headers.get('retry-after'), body['retryable']]).toEqual(['1', true]);
  expect(await codeOf(right)).toBe('passes');
  issuer.trouble = null;
  await until('they are read again', async () => (await codeOf(unknown)) === '401 unauthenticated', 8_000);
});

it('a flood of tokens of keys that do not exist asks the issuer a few times, and right ones are answered meanwhile', async () => {
  const right = token();
  const before = issuer.reads;
  const startedAt = performance.now();
  const strangers = Array.from({ length: 20 }, (_, n) => new SigningKey(`k${n}`).token(claims()));
  const flood = Array.from({ length: 2_000 }, (_, n) => codeOf(strangers[n % 20] ?? ''));
  for (let n = 0; n < 20; n += 1) expect(await codeOf(right)).toBe('passes');
  expect(new Set(await Promise.all(flood))).toEqual(new Set(['401 unauthenticated']));
  // One in five seconds, and the one of each minute.
  expect(issuer.reads - before).toBeLessThanOrEqual((performance.now() - startedAt) / 5_000 + 2);
  expect(node.log.join('')).not.toContain('http.internal_error');
});

it('a huge token is refused, whether it fits into a header or not', async () => {
  expect(await codeOf(token({ more: 'x'.repeat(6_000) }))).toBe('passes');
  expect(await codeOf('e30.'.repeat(3_000))).toBe('401 unauthenticated');
  const { status } = await fetch(`${node.url}/api/v1/chains`, {
    headers: { authorization: `Bearer ${token({ more: 'x'.repeat(60_000) })}` },
  });
  expect(status).toBe(431);
});

it('a stream and a long poll end when their token does', async () => {
  const exp = seconds() - TOLERANCE_S + 6;
  const short = token({ scope: ALL, exp });
  const created = await node.call('POST', '/api/v1/tx', short, {
    signer: SIGNER,
    requestId: 'waits',
    payload: { to: OTHER, value: '1' },
  });
  expect(created.status).toBe(202);
  const headers = { authorization: `Bearer ${short}` };
  const stream = await fetch(`${node.url}/api/v1/events`, { headers: { ...headers, accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  const endedAt: Record<string, number> = {};
  const note = (name: string) => () => void (endedAt[name] = Date.now() / 1_000);
  void new Response(stream.body).text().then(note('stream'), note('stream'));
  void fetch(`${node.url}/api/v1/tx/${String(created.body['txId'])}?waitFor=CONFIRMED&timeoutMs=60000`, { headers })
    .then((answer) => answer.text())
    .then(note('poll'), note('poll'));
  await until('both have ended', async () => Object.keys(endedAt).length === 2, 15_000);
  for (const at of Object.values(endedAt)) {
    expect(at).toBeGreaterThanOrEqual(exp + TOLERANCE_S);
    expect(at).toBeLessThan(exp + TOLERANCE_S + 5);
  }
  expect(await codeOf(short)).toBe('401 unauthenticated');
});

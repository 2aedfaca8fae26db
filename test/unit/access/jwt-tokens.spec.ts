import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AuthConfig, NodeConfig } from '../../../src/config/index.js';
import { LimitsConfig } from '../../../src/config/lockstep-config.js';
import { ANYONE, limitedTo, NO_LIMITS } from '../../../src/kernel/caller.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import { DomainError, messageOf } from '../../../src/kernel/errors.js';
import { AccountBook } from '../../../src/modules/access/application/account-book.js';
import type { Session } from '../../../src/modules/access/application/session.js';
import { Accounts } from '../../../src/modules/access/domain/accounts.js';
import { IssuerKeys } from '../../../src/modules/access/infrastructure/jwt/issuer-keys.js';
import { JwtTokens } from '../../../src/modules/access/infrastructure/jwt/jwt-tokens.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { type Algorithm, signed, signedWithPublicKey, SigningKey, TokenIssuer } from '../../support/token-issuer.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { anAccount } from './an-account.js';

const HOUR_MS = 3_600_000;

let issuer: TokenIssuer;
let clock: FakeClock;
let log: RecordingLog;
let config: AuthConfig;
let keys: IssuerKeys;
let tokens: JwtTokens;
let names: string[];
let accounts: AccountBook;

beforeEach(async () => {
  [issuer, clock, log] = [await TokenIssuer.start(), new FakeClock(new Date()), new RecordingLog()];
  config = Object.assign(new AuthConfig(), { mode: 'jwt' });
  Object.assign(config.jwt, issuer.config);
  keys = new IssuerKeys(config, new NodeConfig(), clock, log, tickersWith(log));
  names = ['shop'];
  accounts = new AccountBook(
    fakeOf(Accounts, { all: async () => names.map((name) => anAccount(name)) }),
    new AccountLimits(new LimitsConfig(), new FakeMetrics()),
  );
  tokens = new JwtTokens(config, keys, accounts, clock);
});
afterEach(async () => {
  await keys.onModuleDestroy();
  await issuer.stop();
});

/** The scopes of the caller, or the code of the refusal. */
async function outcome(token: string): Promise<unknown> {
  const answer = await tokens.sessionOf(token).catch((error: unknown) => error);
  if (answer instanceof DomainError) return answer.code;
  return (answer as Session).caller.scopes;
}

describe('a right token', () => {
  it('brings its name and its scopes, and nothing more', async () => {
    const exp = Math.floor(clock.now().getTime() / 1_000) + 60;
    const { caller, isLive } = await tokens.sessionOf(
      issuer.token({
        exp,
        sub: 'alice',
        scope: 'tx:write openid',
        scopes: ['keys:admin'],
        name: 'key:1',
        account: 'x',
      }),
    );
    expect(caller).toEqual({
      ...ANYONE,
      name: 'token:alice',
      scopes: ['tx:write'],
      endsAt: new Date((exp + 10) * 1_000),
    });
    expect(isLive()).toBe(true);
  });

  it.each<Algorithm>(['RS256', 'PS256', 'ES256', 'EdDSA'])('may be signed with %s', async (algorithm) => {
    issuer.keys = [new SigningKey('k', algorithm)];
    expect(await outcome(issuer.token())).toEqual(['tx:read']);
  });

  it('needs no kid where the issuer has one key, and one of several audiences is enough', async () => {
    issuer.keys = [new SigningKey(undefined)];
    expect(await outcome(issuer.token({ aud: ['other', issuer.audience] }))).toEqual(['tx:read']);
  });

  it('has its scopes in the claim that the config names', async () => {
    Object.assign(config.jwt, { scopesClaim: 'permissions' });
    expect(await outcome(issuer.token({ permissions: ['nonces'] }))).toEqual(['nonces']);
  });

  it('ends, with its sessions, ten seconds after its exp at most', async () => {
    const exp = Math.floor(clock.now().getTime() / 1_000) + 60;
    const token = issuer.token({ exp });
    const session = await tokens.sessionOf(token);
    clock.advance(60_000);
    expect([session.isLive(), await outcome(token)]).toEqual([true, ['tx:read']]);
    clock.advance(10_000);
    expect([session.isLive(), await outcome(token)]).toEqual([false, 'unauthenticated']);
  });

  it('is verified once: while it lasts, each request has the same session', async () => {
    await keys.onApplicationBootstrap();
    const token = issuer.token();
    expect(await tokens.sessionOf(token)).toBe(await tokens.sessionOf(token));
  });
});

describe('a token is refused', () => {
  const now = (): number => Math.floor(Date.now() / 1_000);
  const stranger = new SigningKey('first');

  it.each<[string, () => string]>([
    ['of another issuer', () => issuer.token({ iss: 'https://other.test/' })],
    ['of a list of issuers', () => issuer.token({ iss: [issuer.name] })],
    ['without an issuer', () => issuer.token({ iss: undefined })],
    ['for another audience', () => issuer.token({ aud: ['other', `${issuer.audience}-2`] })],
    ['without an audience', () => issuer.token({ aud: undefined })],
    ['that has expired', () => issuer.token({ exp: now() - 11 })],
    ['without an end', () => issuer.token({ exp: undefined })],
    ['whose end is a text', () => issuer.token({ exp: `${now() + 60}` })],
    ['whose end is no number that is a date', () => issuer.token({ exp: 1e300 })],
    ['whose end is in milliseconds', () => issuer.token({ exp: Date.now() * 1_000 })],
    ['whose end is before 1970', () => issuer.token({ exp: -1 })],
    ['whose end is far before 1970', () => issuer.token({ exp: -1e300 })],
    ['whose end is null', () => issuer.token({ exp: null })],
    ['whose end is a list', () => issuer.token({ exp: [now() + 60] })],
    ['that is not valid yet', () => issuer.token({ nbf: now() + 60 })],
    ['whose nbf is a text', () => issuer.token({ nbf: '0' })],
    ['without a subject', () => issuer.token({ sub: undefined })],
    ['whose subject is a number', () => issuer.token({ sub: 7 })],
    ['whose subject steers a terminal', () => issuer.token({ sub: '\u001b[2J' })],
    ['that somebody else signed', () => stranger.token(issuer.claims())],
    ['with the key of the signer in it', () => stranger.token(issuer.claims(), { jwk: stranger.jwk })],
    ['that names other keys', () => stranger.token(issuer.claims(), { jku: `${issuer.url}/other.json` })],
    ['with an unknown kid', () => issuer.token({}, { kid: 'other' })],
    ['whose kid is a number', () => issuer.token({}, { kid: 1 })],
    ['with the algorithm none', () => signed({ alg: 'none' }, issuer.claims(), () => Buffer.alloc(0))],
    ['with the algorithm None', () => signed({ alg: 'None', kid: 'first' }, issuer.claims(), () => Buffer.alloc(0))],
    ['with another algorithm than its key', () => issuer.token({}, { alg: 'RS256' })],
    ['without an algorithm', () => issuer.token({}, { alg: undefined })],
    ['with a critical header that nobody knows', () => issuer.token({}, { crit: ['x'], x: 1 })],
    ['with an empty list of critical headers', () => issuer.token({}, { crit: [] })],
    ['whose payload is not encoded', () => issuer.token({}, { crit: ['b64'], b64: false })],
    ['whose claims are no object', () => signed({ alg: 'ES256' }, ['a'], () => Buffer.alloc(64))],
    ['that is cut', () => issuer.token().slice(0, -2)],
    ['with five parts', () => `${issuer.token()}.a.b`],
    ['that is a key of ours', () => `ls_${'0'.repeat(32)}_${'a'.repeat(43)}`],
    ['that is nothing', () => ''],
    ['that is huge and nonsense', () => 'e30.'.repeat(4_000)],
  ])('%s', async (_name, token) => {
    expect(await outcome(issuer.token())).toEqual(['tx:read']);
    expect(await outcome(token())).toBe('unauthenticated');
  });

  it.each(['pem', 'jwk'] as const)('whose HMAC has the public key for its secret: %s', async (form) => {
    const [key] = (issuer.keys = [new SigningKey('first', 'RS256')]);
    const secret = form === 'pem' ? key?.pem : JSON.stringify(key?.jwk);
    expect(await outcome(signedWithPublicKey({ kid: 'first' }, issuer.claims(), secret ?? ''))).toBe('unauthenticated');
    expect(await outcome(issuer.token())).toEqual(['tx:read']);
  });

  it('also when the issuer shows a secret key, which everybody can read', async () => {
    const k = Buffer.alloc(32, 1);
    issuer.trouble = { body: JSON.stringify({ keys: [{ kty: 'oct', kid: 'o', k: k.toString('base64url') }] }) };
    expect(await outcome(signedWithPublicKey({ kid: 'o' }, issuer.claims(), k.toString('binary')))).toBe(
      'unauthenticated',
    );
  });

  it('without a kid, where the issuer has several keys', async () => {
    const [one, other] = [new SigningKey(undefined), new SigningKey(undefined)];
    issuer.keys = [one, other];
    await expect(tokens.sessionOf(issuer.token())).rejects.toMatchObject({ message: /does not name its key/ });
  });

  it('and the answer says why', async () => {
    const told = async (token: string): Promise<string> =>
      messageOf(await tokens.sessionOf(token).catch((error: unknown) => error));
    expect([
      await told(issuer.token({ exp: 1 })),
      await told(issuer.token({ aud: 'other' })),
      await told(stranger.token(issuer.claims())),
    ]).toEqual([
      'the token is not taken: it has expired',
      'the token is not taken: its claim aud is missing or wrong',
      'the token is not taken: it is no JWT that the issuer has signed',
    ]);
  });
});

describe('the keys of the issuer', () => {
  it('are read again for a token of a new key, and the old one is refused when it is not there any more', async () => {
    const old = issuer.token();
    expect(await outcome(old)).toEqual(['tx:read']);
    issuer.keys = [new SigningKey('second')];
    clock.advance(5_000);
    expect(await outcome(issuer.token())).toEqual(['tx:read']);
    expect(await outcome(old)).toBe('unauthenticated');
  });

  it('are not read more often for a thousand keys that do not exist, and right tokens do not wait', async () => {
    const right = issuer.token();
    expect(await outcome(right)).toEqual(['tx:read']);
    clock.advance(5_000);
    issuer.trouble = 'slow';
    const wrong = Array.from({ length: 1_000 }, (_, n) => tokens.sessionOf(issuer.token({}, { kid: `k${n}` })));
    const waiting = Promise.allSettled(wrong);
    expect([await outcome(right), await outcome(issuer.token({ sub: 'other' }))]).toEqual([['tx:read'], ['tx:read']]);
    await keys.onModuleDestroy();
    await waiting;
    expect(issuer.reads).toBe(2);
  });

  it.each<[string, TokenIssuer['trouble']]>([
    ['does not answer', 'down'],
    ['answers with an error', { body: '{"keys":[]}', status: 500 }],
    ['answers with a redirect', { body: '', status: 302 }],
    ['answers with something else', { body: '<html>' }],
    ['answers with other JSON', { body: '{"keys":{}}' }],
    ['answers without end', { body: ' '.repeat(300_000) }],
  ])('last an hour while the issuer %s, and no token of another key is called wrong', async (_name, trouble) => {
    const exp = Math.floor(clock.now().getTime() / 1_000) + 7_200;
    const [token, unknown] = [issuer.token({ exp }), issuer.token({ exp }, { kid: 'second' })];
    expect(await outcome(token)).toEqual(['tx:read']);
    issuer.trouble = trouble;
    clock.advance(HOUR_MS);
    expect([await outcome(token), await outcome(unknown)]).toEqual([['tx:read'], 'auth_unavailable']);
    clock.advance(1);
    expect(await outcome(token)).toBe('auth_unavailable');
    issuer.trouble = null;
    clock.advance(5_000);
    expect([await outcome(token), await outcome(unknown)]).toEqual([['tx:read'], 'unauthenticated']);
  });

  it('that were never read: a retryable answer, not a refusal, and one line in the log', async () => {
    issuer.trouble = 'down';
    await keys.onApplicationBootstrap();
    const refused = await tokens.sessionOf(issuer.token()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'auth_unavailable', kind: 'unavailable', retryable: true });
    clock.advance(5_000);
    await outcome(issuer.token());
    expect(issuer.reads).toBeGreaterThanOrEqual(2);
    expect(log.lines.map(({ event }) => event)).toEqual(['failed to read the keys of the issuer of tokens']);
  });

  it('are not asked for where nobody sends tokens', async () => {
    config.mode = 'apiKeys';
    await keys.onApplicationBootstrap();
    expect(issuer.reads).toBe(0);
  });
});

it('a session is not kept from before the keys changed', async () => {
  const session: Session = await tokens.sessionOf(issuer.token());
  const again = issuer.token();
  issuer.keys = [new SigningKey('first')];
  await keys.onApplicationBootstrap();
  expect(await outcome(again)).toBe('unauthenticated');
  expect(session.isLive()).toBe(true);
});

describe('the account of a token', () => {
  beforeEach(() => {
    config.jwt.accountClaim = 'tenant';
  });

  it('is the one that its claim names', async () => {
    await accounts.refresh();
    expect((await tokens.sessionOf(issuer.token({ tenant: 'shop' }))).caller.account).toBe('id-shop');
  });

  it('is never guessed: a token without one is nobody, and one of an unknown account is refused', async () => {
    await accounts.refresh();
    for (const tenant of [undefined, null, 7, ['shop'], { name: 'shop' }])
      expect(await outcome(issuer.token({ tenant }))).toBe('unauthenticated');
    for (const tenant of ['', 'Shop', 'default', '__proto__', 'shop '])
      expect(await outcome(issuer.token({ tenant }))).toBe('unknown_account');
  });

  it('ends its tokens and their sessions when it is disabled', async () => {
    await keys.onApplicationBootstrap();
    await accounts.refresh();
    const token = issuer.token({ tenant: 'shop' });
    const session = await tokens.sessionOf(token);
    expect(session.isLive()).toBe(true);
    names = [];
    await accounts.refresh();
    expect([session.isLive(), await outcome(token)]).toEqual([false, 'unknown_account']);
  });

  it('is not known before the accounts were read, and nobody is refused for that', async () => {
    expect(await outcome(issuer.token({ tenant: 'shop' }))).toBe('starting');
  });
});

describe('the signers and chains of a token', () => {
  const address = parseAddress(`0x${'ab'.repeat(20)}`);
  const limitsOf = async (claims: Record<string, unknown>): Promise<unknown> =>
    (await tokens.sessionOf(issuer.token(claims))).caller.only;

  beforeEach(() => {
    Object.assign(config.jwt, { signersClaim: 'signers', chainsClaim: 'chains' });
  });

  it('are those that its claims name', async () => {
    expect(await limitsOf({ signers: `1:${address} 2:${address}`, chains: '*' })).toEqual(
      limitedTo(
        [1, 2].map((chainId) => ({ chainId, address })),
        null,
      ),
    );
    expect(await limitsOf({ signers: '*', chains: [1, '7'] })).toEqual(limitedTo(null, [1, 7]));
    expect(await limitsOf({ signers: [`1:${address}`, `2:${address}`], chains: 2 })).toEqual(
      limitedTo([{ chainId: 2, address }], null),
    );
    expect(await limitsOf({ signers: '*', chains: '*' })).toEqual(NO_LIMITS);
    expect(await limitsOf({ signers: [], chains: '*' })).toEqual({ signers: [], chainIds: [] });
  });

  it('are never guessed: a token whose claim is missing or wrong is nobody', async () => {
    const right = { signers: '*', chains: '*' };
    const wrong = [undefined, null, '', 7, {}, address, `1:${address},2:${address}`, ['*'], [`1:${address}`, 'x']];
    for (const signers of wrong) expect(await outcome(issuer.token({ ...right, signers }))).toBe('unauthenticated');
    for (const chains of [undefined, null, '', -1, 1.5, {}, '0', '1,2', ['*'], [1, null]])
      expect(await outcome(issuer.token({ ...right, chains }))).toBe('unauthenticated');
  });
});

import { describe, expect, it } from '@jest/globals';
import { configFrom, ConfigInvalid } from '../../../src/config/index.js';
import type { RawMap } from '../../../src/config/read-config-file.js';

const CHAIN = { id: 1, rpcUrls: ['http://127.0.0.1:1'] };

/** Paths of the keys that are wrong when one section says this. */
function mistakes(section: string, values: RawMap, rest: RawMap = {}): string[] {
  const root = { database: { url: 'postgres://nobody@localhost/none' }, chains: [CHAIN], ...rest };
  const own = section === 'database' ? { url: 'postgres://nobody@localhost/none', ...values } : values;
  try {
    configFrom({ ...root, [section]: own });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    return error.mistakes.map(({ path }) => path);
  }
}

describe('a value at its limit', () => {
  it.each<[string, string, unknown, unknown]>([
    ['server', 'port', 65_535, 65_536],
    ['server', 'port', 0, -1],
    ['server', 'bodyLimit', 1, 0],
    ['confirmations', 'required', 1, 0],
    ['confirmations', 'required', 100_000, 100_001],
    ['confirmations', 'staleReceiptTimeout', '1ms', 0],
    ['resubmit', 'interval', '1ms', '0s'],
    ['resubmit', 'bumpDepth', 1, 0],
    ['resubmit', 'bumpDepth', 10_000, 10_001],
    ['execution', 'maxInFlight', 100_000, 100_001],
    ['worker', 'concurrency', 1_024, 1_025],
    ['worker', 'pollInterval', 1, 0],
    ['lease', 'clockSkewAllowance', 0, -1],
    ['nonce', 'nonceStateTimeout', 2 ** 31 - 1, 2 ** 31],
    ['server', 'bodyLimit', 2 ** 31 - 1, 2 ** 31],
    ['webhooks', 'timeout', 1, 0],
    ['events', 'retention', 'off', 'on'],
    ['events', 'retention', '1h', '59m'],
    ['events', 'retention', '36500d', '36501d'],
    ['transactions', 'retention', '1d', '23h'],
    ['webhooks', 'allow', [], ['10.0.0.0/33']],
    ['broker', 'urls', ['nats://a:4222', 'tls://b'], ['nats://user:secret@a:4222']],
    ['broker', 'stream', 'EVENTS-1', 'EVENTS.1'],
    ['broker', 'subjectPrefix', 'a.b', 'a.>'],
    ['broker', 'type', 'nats', 'kafka'],
    ['node', 'forwardSecret', 'x'.repeat(16), 'x'.repeat(15)],
  ])('%s.%s: %p is good, %p is a mistake', (section, key, good, bad) => {
    expect(mistakes(section, { [key]: good })).toEqual([]);
    expect(mistakes(section, { [key]: bad })).toEqual([`${section}.${key}`]);
  });

  it('counts between keys, too: a renewal is below half of the lease', () => {
    expect(mistakes('lease', { duration: '10s', renewInterval: 4_999 })).toEqual([]);
    expect(mistakes('lease', { duration: '10s', renewInterval: 5_000 })).toEqual(['lease.renewInterval']);
  });

  it('counts between keys, too: tokens need an issuer, an audience and the keys of the issuer', () => {
    const jwt = { issuer: 'https://issuer.test/', audience: 'lockstep', jwksUrl: 'https://issuer.test/jwks.json' };
    expect(mistakes('auth', { mode: 'jwt' })).toEqual(['auth.jwt.issuer', 'auth.jwt.audience', 'auth.jwt.jwksUrl']);
    expect(mistakes('auth', { mode: 'jwt', jwt: { ...jwt, issuer: undefined } })).toEqual(['auth.jwt.issuer']);
    for (const jwksUrl of [jwt.jwksUrl, 'http://localhost:8080/jwks', 'http://127.0.0.1:1/', 'http://[::1]:1/'])
      expect(mistakes('auth', { mode: 'jwt', jwt: { ...jwt, jwksUrl } })).toEqual([]);
    expect(mistakes('auth', { jwt })).toEqual([]);
  });

  it('counts between keys, too: one kind of credentials of the broker, and a user has a password', () => {
    expect(mistakes('broker', { user: 'a', password: 'b' })).toEqual([]);
    expect(mistakes('broker', { token: 'c' })).toEqual([]);
    expect(mistakes('broker', { user: 'a', password: 'b', token: 'c' })).toEqual(['broker.token']);
    expect(mistakes('broker', { user: 'a' })).toEqual(['broker.password']);
    expect(mistakes('broker', { password: 'b' })).toEqual(['broker.password']);
  });

  it('is a mistake in the keys of a broker that is on, and of one that is off', () => {
    for (const type of ['nats', 'none']) {
      expect(mistakes('broker', { type, stream: 'EVENTS' })).toEqual([]);
      expect(mistakes('broker', { type, stream: 'EVENTS.1', topic: 'a' })).toEqual(['broker.topic', 'broker.stream']);
      expect(mistakes('broker', { type, user: 'a', password: 7 })).toEqual(['broker.password']);
    }
  });

  it('counts between keys, too: a statement ends before the lease', () => {
    expect(mistakes('database', { statementTimeout: 9_999 })).toEqual([]);
    expect(mistakes('database', { statementTimeout: 10_000 })).toEqual(['database.statementTimeout']);
  });

  it.each([
    ['advertisedUrl', { forwardSecret: 'x'.repeat(16) }],
    ['forwardSecret', { advertisedUrl: 'http://host:1' }],
  ])('counts between keys, too: forwarding needs node.%s', (key, node) => {
    expect(mistakes('intake', { notLeader: 'forward' }, { node })).toEqual([`node.${key}`]);
    expect(mistakes('intake', { notLeader: 'accept' }, { node })).toEqual([]);
  });
});

describe('a value that looks right', () => {
  it.each<[string, string, unknown, string?]>([
    ['resubmit', 'interval', '1w'],
    ['resubmit', 'interval', '-1s'],
    ['resubmit', 'interval', '1 s 2'],
    ['resubmit', 'enabled', 0],
    ['resubmit', 'enabled', 'yes'],
    ['resubmit', 'bumpDepth', 1.5],
    ['resubmit', 'bumpDepth', '9007199254740993'],
    ['server', 'bodyLimit', '1tb'],
    ['server', 'host', ' '],
    ['server', 'tls', { certFile: 'a' }, 'tls.keyFile'],
    ['auth', 'jwt', { jwksUrl: 'http://issuer.test/jwks.json' }, 'jwt.jwksUrl'],
    ['auth', 'jwt', { jwksUrl: 'https://user:secret@issuer.test/jwks.json' }, 'jwt.jwksUrl'],
    ['auth', 'jwt', { jwksUrl: 'issuer.test' }, 'jwt.jwksUrl'],
    ['auth', 'jwt', { jwksUrl: 'file:///etc/jwks.json' }, 'jwt.jwksUrl'],
    ['auth', 'jwt', { jwksUrl: 'http://localhost.issuer.test/' }, 'jwt.jwksUrl'],
    ['server', 'tls', { keyFile: 'a' }, 'tls.certFile'],
    ['webhooks', 'encryptionKeys', [Buffer.alloc(31).toString('base64')]],
    ['webhooks', 'encryptionKeys', '00'.repeat(32)],
  ])('%s.%s: %p is a mistake', (section, key, value, path = key) => {
    expect(mistakes(section, { [key]: value })).toEqual([`${section}.${path}`]);
  });

  it.each<[unknown, number]>([
    ['1.4ms', 1],
    ['1.5ms', 2],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    [250, 250],
  ])('the duration %p is %p ms', (written, ms) => {
    expect(configFrom(withChain({ resubmit: { interval: written } })).resubmit.interval).toBe(ms);
  });

  it.each<[unknown, number]>([
    ['1kb', 1_024],
    ['1.5 MB', 1_572_864],
    ['1gb', 1_073_741_824],
    ['1.0009kb', 1_024],
    ['7b', 7],
  ])('the size %p is %p bytes', (written, bytes) => {
    expect(configFrom(withChain({ server: { bodyLimit: written } })).server.bodyLimit).toBe(bytes);
  });

  function withChain(sections: object): RawMap {
    return { database: { url: 'postgres://nobody@localhost/none' }, chains: [CHAIN], ...sections };
  }
});

describe('the role of a node', () => {
  it.each([
    ['api', false, true],
    ['worker', true, false],
    ['all', true, true],
  ])('%s: acts %p, serves %p', (role, acts, serves) => {
    const { node } = configFrom({
      database: { url: 'postgres://nobody@localhost/none' },
      chains: [CHAIN],
      node: { role },
    });
    expect([node.acts, node.serves]).toEqual([acts, serves]);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  configFrom,
  ConfigInvalid,
  formatConfigMistakes,
  LeaseConfig,
  loadConfig,
  type ConfigMistake,
} from '../../../src/config/index.js';
import { MnemonicCustody } from '../../../src/custody/mnemonic.js';
import { PrivateKeyCustody } from '../../../src/custody/private-key.js';

const KEY = `0x${'ab'.repeat(32)}`;
const URL = 'postgres://user:hunter2@db/lockstep';
const chain = (overrides: object = {}): object => ({
  id: 1,
  rpcUrls: ['https://rpc.example/secret-path'],
  ...overrides,
});
const file = (overrides: object = {}): Record<string, unknown> => ({
  database: { url: URL },
  chains: [chain()],
  ...overrides,
});

function mistakesOf(run: () => unknown): readonly ConfigMistake[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.mistakes;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

const pathsOf = (run: () => unknown): string[] => mistakesOf(run).map(({ path }) => path);

describe('configuration values', () => {
  it('has a default for everything but the database and the chains', () => {
    const config = configFrom({ chains: [chain()] }, { DATABASE_URL: URL });
    expect(config.lease).toEqual(new LeaseConfig());
    expect(config.server).toMatchObject({ port: 3000, bodyLimit: 1_048_576 });
    expect(config.nonce.chainQuery).toEqual({ mode: 'latest' });
    expect(config.chains[0]).toMatchObject({ rpcTimeout: 10_000, errorPatterns: [], signers: [] });
    expect(config.chains[0]?.fees).toBeUndefined();
  });

  it('reads durations as milliseconds, sizes as bytes and wei as a bigint', () => {
    const config = configFrom(
      file({
        server: { bodyLimit: '512kb' },
        lease: { duration: '1m' },
        worker: { pollInterval: 250 },
        chains: [chain({ rpcTimeout: '1.5s', fees: { maxFeePerGas: '30000000000' } })],
      }),
    );
    expect(config.server.bodyLimit).toBe(524_288);
    expect(config.lease.duration).toBe(60_000);
    expect(config.worker.pollInterval).toBe(250);
    expect(config.chains[0]).toMatchObject({ rpcTimeout: 1500, fees: { maxFeePerGas: 30_000_000_000n } });
  });

  it('makes each signer of the class of its type', () => {
    const signers = [
      { type: 'privateKey', key: KEY },
      { type: 'mnemonic', phrase: 'test test test test test test test test test test test junk', count: 3 },
    ];
    const [first, second] = configFrom(file({ chains: [chain({ signers })] })).chains[0]?.signers ?? [];
    expect(first).toBeInstanceOf(PrivateKeyCustody);
    expect(second).toBeInstanceOf(MnemonicCustody);
    expect(second).toMatchObject({ count: 3, path: "m/44'/60'/0'/0" });
  });

  it('takes a section whose lines are all commented out as empty', () => {
    expect(configFrom(file({ lease: null })).lease).toEqual(new LeaseConfig());
  });
});

describe('configuration mistakes', () => {
  it('are reported all at once, each with its full path', () => {
    const paths = pathsOf(() =>
      configFrom({
        server: { port: 'many', host: '' },
        lease: { duration: 'a while' },
        colour: 'blue',
        nonce: { chainQuery: { mode: 'newest' } },
        chains: [
          {
            id: 0,
            rpcUrls: ['ftp://x'],
            wsUrls: ['http://x'],
            maxLag: -1,
            signers: [{ type: 'hsm' }, { type: 'privateKey', key: '0x12' }],
          },
        ],
      }),
    );
    expect(paths.sort()).toEqual(
      [
        'chains[0].id',
        'chains[0].maxLag',
        'chains[0].rpcUrls',
        'chains[0].wsUrls',
        'chains[0].signers[0].type',
        'chains[0].signers[1].key',
        'colour',
        'database.url',
        'lease.duration',
        'nonce.chainQuery.mode',
        'server.host',
        'server.port',
      ].sort(),
    );
  });

  it('suggest the key that was probably meant', () => {
    const mistakes = mistakesOf(() => configFrom(file({ lease: { renewIntervall: '1s' }, Sever: {} })));
    expect(mistakes).toEqual([
      { path: 'Sever', problem: 'unknown key (did you mean server?)' },
      { path: 'lease.renewIntervall', problem: 'unknown key (did you mean renewInterval?)' },
    ]);
  });

  it.each([
    ['0', 0],
    ['minus', '-1s'],
    ['no unit there is', '3 parsecs'],
    ['a list', ['1s']],
    ['longer than a timer can wait', '60d'],
  ])('include a duration that is %s', (_words, duration) => {
    expect(pathsOf(() => configFrom(file({ resubmit: { interval: duration } })))).toEqual(['resubmit.interval']);
  });

  it('include a renewal that comes too late to be lost once', () => {
    expect(pathsOf(() => configFrom(file({ lease: { renewInterval: '5s' } })))).toEqual(['lease.renewInterval']);
  });

  it('include a database time-out that would let a stuck transaction block a takeover', () => {
    const lease = { duration: '4s', renewInterval: '1s' };
    expect(pathsOf(() => configFrom(file({ lease })))).toEqual(['database.statementTimeout']);
    // PostgreSQL reads 0 as no limit at all.
    const database = { url: URL, statementTimeout: 0 };
    expect(pathsOf(() => configFrom(file({ database })))).toEqual(['database.statementTimeout']);
  });

  it('include the same chain twice, and no chain at all', () => {
    expect(pathsOf(() => configFrom(file({ chains: [chain(), chain({ id: 2 }), chain()] })))).toEqual(['chains[2].id']);
    expect(pathsOf(() => configFrom(file({ chains: [] })))).toEqual(['chains']);
    expect(pathsOf(() => configFrom({ database: { url: URL } }))).toEqual(['chains']);
  });

  it('include a pattern that is no regular expression, and a class of node errors that does not exist', () => {
    const errorPatterns = [
      { pattern: '(', class: 'underpriced' },
      { pattern: 'ok' },
      { pattern: 'ok', class: 'nonsense' },
    ];
    const mistakes = mistakesOf(() => configFrom(file({ chains: [chain({ errorPatterns })] })));
    expect(mistakes).toEqual([
      { path: 'chains[0].errorPatterns[0].pattern', problem: 'must be a regular expression' },
      { path: 'chains[0].errorPatterns[1].class', problem: 'is required' },
      {
        path: 'chains[0].errorPatterns[2].class',
        problem: expect.stringMatching(/^must be one of already_known, .*, unknown$/),
      },
    ]);
  });

  it('never show a secret', () => {
    const secrets = ['hunter2', 'secret-path', 'correct horse', KEY.slice(2), 'sekret-env'];
    const error = captured(() =>
      configFrom(
        {
          database: { url: 'mysql://user:hunter2@db' },
          [KEY]: 'x',
          'https://rpc.example/secret-path': '${MISSING}',
          lease: { duration: '${SOME}' },
          logging: { level: '${SOME}' },
          chains: [
            chain({
              rpcUrls: ['gopher://rpc/secret-path'],
              wsUrls: ['https://rpc/secret-path'],
              signers: [
                { type: 'privateKey', key: `${KEY}00` },
                { type: 'privateKey', key: Number(KEY) },
                { type: 'mnemonic', phrase: 'correct horse' },
                { type: KEY },
              ],
            }),
          ],
        },
        { SOME: 'sekret-env' },
      ),
    );
    const text = [formatConfigMistakes(error), error.stack, JSON.stringify(error.facts)].join('\n');
    expect(error.mistakes.length).toBeGreaterThanOrEqual(9);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('say that a key YAML took for a number belongs in quotes', () => {
    const signers = [{ type: 'privateKey', key: 123 }];
    expect(mistakesOf(() => configFrom(file({ chains: [chain({ signers })] })))).toEqual([
      { path: 'chains[0].signers[0].key', problem: 'must be text: put it in quotes' },
    ]);
  });

  it('do not let a file reach the prototype of an object', () => {
    const raw: Record<string, unknown> = JSON.parse('{"__proto__": {"polluted": true}}');
    expect(pathsOf(() => configFrom({ ...file(), lease: raw }))).toEqual(['lease.__proto__']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('are printed one on a line', () => {
    const error = captured(() => configFrom(file({ colour: 1, shape: 2 })));
    expect(formatConfigMistakes(error).split('\n')).toEqual([
      'the configuration has 2 mistakes:',
      '  colour: unknown key',
      '  shape: unknown key',
      expect.stringContaining('lockstep.example.yaml'),
    ]);
  });
});

describe('${ENV} in the file', () => {
  const named = (host: string, env: Record<string, string>): string =>
    configFrom(file({ server: { host } }), env).server.host;

  it('takes any character of a secret as it is', () => {
    expect(named('${N}', { N: 'a: "b" #c\n${X}' })).toBe('a: "b" #c\n${X}');
  });

  it('has defaults for variables that are not set, or set to nothing', () => {
    expect(named('${N:-main}', {})).toBe('main');
    expect(named('${N:-main}', { N: '' })).toBe('main');
    expect(named('${N:-main}-${M}', { N: 'a', M: 'b' })).toBe('a-b');
  });

  it('can be written literally', () => {
    expect(named('$${N}', { N: 'x' })).toBe('${N}');
  });

  it('reports a variable that is missing, and only that', () => {
    expect(mistakesOf(() => named('${NOPE}', {}))).toEqual([
      { path: 'server.host', problem: 'environment variable NOPE is not set' },
    ]);
    expect(pathsOf(() => named('${no-pe}', {}))).toEqual(['server.host']);
  });

  it('feeds numbers and flags too', () => {
    const config = configFrom(file({ server: { port: '${P}' }, resubmit: { enabled: '${R}' } }), {
      P: '81',
      R: 'false',
    });
    expect(config.server.port).toBe(81);
    expect(config.resubmit.enabled).toBe(false);
  });
});

describe('environment overrides', () => {
  it('win over the file, at any depth', () => {
    const config = configFrom(file({ lease: { duration: '8s' } }), {
      LOCKSTEP_LEASE_DURATION: '12s',
      LOCKSTEP_NONCE_CHAIN_QUERY_MODE: 'pending',
      LOCKSTEP_CHAINS_0_RPC_URLS: 'http://a:1, http://b:2',
      LOCKSTEP_CONFIRMATIONS_FETCH_RECEIPT_UPON_ENTRY: 'true',
    });
    expect(config.lease.duration).toBe(12_000);
    expect(config.nonce.chainQuery.mode).toBe('pending');
    expect(config.chains[0]?.rpcUrls).toEqual(['http://a:1', 'http://b:2']);
    expect(config.confirmations.fetchReceiptUponEntry).toBe(true);
  });

  it('can be the whole configuration', () => {
    const config = configFrom(
      {},
      {
        LOCKSTEP_DATABASE_URL: URL,
        LOCKSTEP_CHAINS_0_ID: '5',
        LOCKSTEP_CHAINS_0_RPC_URLS: 'http://a:1',
        LOCKSTEP_CHAINS_0_SIGNERS_0_TYPE: 'privateKey',
        LOCKSTEP_CHAINS_0_SIGNERS_0_KEY: KEY,
      },
    );
    expect(config.chains[0]).toMatchObject({ id: 5, signers: [{ type: 'privateKey', key: KEY }] });
  });

  it('count also when they are set to nothing: the value of the file must not stand in silently', () => {
    const emptied = { LOCKSTEP_LEASE_DURATION: '', LOCKSTEP_NO_SUCH_THING: '' };
    expect(pathsOf(() => configFrom(file({ lease: { duration: '8s' } }), emptied))).toEqual(
      expect.arrayContaining(['LOCKSTEP_NO_SUCH_THING', 'lease.duration']),
    );
  });

  it('excuse a ${ENV} that is missing where they apply', () => {
    const env = { LOCKSTEP_SERVER_HOST: 'main' };
    expect(configFrom(file({ server: { host: '${NOPE}' } }), env).server.host).toBe('main');
  });

  it('are mistakes when they stand for nothing, with a suggestion', () => {
    expect(
      mistakesOf(() => configFrom(file(), { LOCKSTEP_LEASE_DURATON: '1s', LOCKSTEP_CHAINS_2_RPC_URL: 'http://x' })),
    ).toEqual([
      {
        path: 'LOCKSTEP_CHAINS_2_RPC_URL',
        problem: 'is not the name of a setting (did you mean LOCKSTEP_CHAINS_2_RPC_URLS?)',
      },
      {
        path: 'LOCKSTEP_LEASE_DURATON',
        problem: 'is not the name of a setting (did you mean LOCKSTEP_LEASE_DURATION?)',
      },
    ]);
  });

  it('leave LOCKSTEP_CONFIG, LOCKSTEP_CRASH_AT and variables the file asks for alone', () => {
    const env = { LOCKSTEP_CONFIG: 'x', LOCKSTEP_CRASH_AT: 'after-sign', LOCKSTEP_MY_SECRET: 'n' };
    expect(configFrom(file({ server: { host: '${LOCKSTEP_MY_SECRET}' } }), env).server.host).toBe('n');
  });

  it('do not trip over what Kubernetes puts into a pod beside a service called lockstep', () => {
    const env = {
      LOCKSTEP_SERVICE_HOST: '10.0.0.1',
      LOCKSTEP_SERVICE_PORT_HTTP: '80',
      LOCKSTEP_PORT: 'tcp://10.0.0.1:80',
      LOCKSTEP_PORT_80_TCP_ADDR: '10.0.0.1',
    };
    expect(() => configFrom(file(), { ...env, KUBERNETES_SERVICE_HOST: '10.0.0.9' })).not.toThrow();
    expect(pathsOf(() => configFrom(file(), env))).toHaveLength(4);
  });

  it('leave no gap in a list', () => {
    expect(pathsOf(() => configFrom(file(), { LOCKSTEP_CHAINS_2_ID: '7' }))).toEqual(
      expect.arrayContaining(['chains[1].id', 'chains[1].rpcUrls', 'chains[2].rpcUrls']),
    );
  });

  it('take DATABASE_URL only when nothing else names the database', () => {
    const other = 'postgres://other/db';
    expect(configFrom(file(), { DATABASE_URL: other }).database.url).toBe(URL);
    expect(configFrom({ chains: [chain()] }, { DATABASE_URL: other }).database.url).toBe(other);
    const both = { DATABASE_URL: other, LOCKSTEP_DATABASE_URL: URL };
    expect(configFrom({ chains: [chain()] }, both).database.url).toBe(URL);
    expect(pathsOf(() => configFrom({ chains: [chain()] }, { DATABASE_URL: '' }))).toEqual(['database.url']);
  });
});

describe('the configuration file', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'lockstep-config-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  const YAML = `database: { url: '${URL}' }\nchains:\n  - id: 7\n    rpcUrls: [http://a:1]\n`;

  it('is lockstep.yaml here, or the one LOCKSTEP_CONFIG names', () => {
    write('lockstep.yaml', YAML);
    write('other.yaml', YAML.replace('id: 7', 'id: 8'));
    expect(loadConfig({ env: {}, cwd }).chains[0]?.id).toBe(7);
    expect(loadConfig({ env: { LOCKSTEP_CONFIG: 'other.yaml' }, cwd }).chains[0]?.id).toBe(8);
  });

  it('may be absent, unless it was asked for', () => {
    const env = { DATABASE_URL: URL, LOCKSTEP_CHAINS_0_ID: '9', LOCKSTEP_CHAINS_0_RPC_URLS: 'http://a:1' };
    expect(loadConfig({ env, cwd }).chains[0]?.id).toBe(9);
    expect(pathsOf(() => loadConfig({ env: { ...env, LOCKSTEP_CONFIG: 'nope.yaml' }, cwd }))).toEqual([
      'LOCKSTEP_CONFIG',
    ]);
  });

  it('that is not YAML is reported by line, without quoting it', () => {
    write('lockstep.yaml', `chains:\n  - key: "hunter2\n- x: [hunter2\n`);
    const error = captured(() => loadConfig({ env: {}, cwd }));
    expect(formatConfigMistakes(error)).not.toContain('hunter2');
    expect(error.mistakes[0]?.path).toMatch(/lockstep\.yaml:\d+$/);
  });

  it('must be a map, without a key twice', () => {
    write('lockstep.yaml', '- a\n- b\n');
    expect(() => loadConfig({ env: {}, cwd })).toThrow(ConfigInvalid);
    write('lockstep.yaml', `${YAML}chains: []\n`);
    expect(() => loadConfig({ env: {}, cwd })).toThrow(ConfigInvalid);
  });
});

function captured(run: () => unknown): ConfigInvalid {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigInvalid) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configFrom } from '../../../src/config/index.js';
import { keptWebhookKey } from '../../../src/dev/webhook-key.js';
import { replaceSecret } from '../../../src/dev/write-secret.js';
import { devConfig, givenConfig, type ServiceConfig } from '../../../src/dev/service-config.js';

const KEY = `0x${'4'.repeat(64)}`;
const WEBHOOK_KEY = Buffer.alloc(32).toString('base64');
const asService = ({ yaml, env }: ServiceConfig, more: Record<string, string> = {}) =>
  configFrom(parse(yaml), { ...more, ...env });

describe('the config that npm start writes', () => {
  it('is one that the service accepts, for the embedded stack', () => {
    const config = asService(
      devConfig('postgres://u:p@127.0.0.1:5432/lockstep', 'http://127.0.0.1:8545', 3210, WEBHOOK_KEY),
    );
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 3210 });
    expect(config.database.url).toBe('postgres://u:p@127.0.0.1:5432/lockstep');
    expect(config.confirmations.required).toBe(3);
    expect(config.webhooks.encryptionKeys).toEqual([Buffer.alloc(32)]);
    expect(config.chains).toHaveLength(1);
    expect(config.chains[0]).toMatchObject({ id: 31337, pollInterval: 250, rpcUrls: ['http://127.0.0.1:8545'] });
    expect(config.chains[0]?.signers).toMatchObject([{ type: 'mnemonic', count: 10 }]);
  });

  it('is one that the service accepts, for given nodes and keys', () => {
    const given = givenConfig(
      5,
      { rpcUrls: ['https://a.example/key', 'https://b.example'], signerKeys: [KEY] },
      3000,
      WEBHOOK_KEY,
    );
    const config = asService(given, { DATABASE_URL: 'postgres://db/lockstep' });
    expect(config.chains[0]).toMatchObject({ id: 5, rpcUrls: ['https://a.example/key', 'https://b.example'] });
    expect(config.chains[0]?.signers).toMatchObject([{ type: 'privateKey', key: KEY }]);
    expect(config.webhooks.encryptionKeys).toEqual([Buffer.alloc(32)]);
  });

  it('holds no key, no password and no URL of the reader', () => {
    const given = givenConfig(5, { rpcUrls: ['https://a.example/key'], signerKeys: [KEY] }, 3000, WEBHOOK_KEY);
    expect(given.yaml).not.toMatch(/4444|example|AAAA/);
    expect(devConfig('postgres://u:password@h/d', 'http://127.0.0.1:1', 1, WEBHOOK_KEY).yaml).not.toMatch(
      /password|AAAA/,
    );
  });

  it('signs with the dev accounts on a dev chain only', () => {
    const given = { rpcUrls: ['http://node'], signerKeys: [] };
    expect(givenConfig(31337, given, 3000, WEBHOOK_KEY).yaml).toContain('mnemonic');
    expect(() => givenConfig(1, given, 3000, WEBHOOK_KEY)).toThrow(/SIGNER_PRIVATE_KEYS/);
  });
});

it('npm start makes a key for the secrets of webhooks once, which only its user can read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-key-'));
  const path = join(folder, 'kept', 'webhook.key');
  const key = keptWebhookKey(path);
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(keptWebhookKey(path)).toBe(key);
  rmSync(folder, { recursive: true });
});

it('a secret that is written again is for its user only, whoever could read the file before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-key-'));
  const path = join(folder, 'dev-key');
  writeFileSync(path, 'old', { mode: 0o644 });
  replaceSecret(path, 'new');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o600]);
  rmSync(folder, { recursive: true });
});

import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configFrom } from '../../../src/config/index.js';
import { devConfig, givenConfig, type ServiceConfig } from '../../../src/dev/service-config.js';

const KEY = `0x${'4'.repeat(64)}`;
const asService = ({ yaml, env }: ServiceConfig, more: Record<string, string> = {}) =>
  configFrom(parse(yaml), { ...more, ...env });

describe('the config that npm start writes', () => {
  it('is one that the service accepts, for the embedded stack', () => {
    const config = asService(devConfig('postgres://u:p@127.0.0.1:5432/lockstep', 'http://127.0.0.1:8545', 3210));
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 3210 });
    expect(config.database.url).toBe('postgres://u:p@127.0.0.1:5432/lockstep');
    expect(config.confirmations.required).toBe(3);
    expect(config.chains).toHaveLength(1);
    expect(config.chains[0]).toMatchObject({ id: 31337, pollInterval: 250, rpcUrls: ['http://127.0.0.1:8545'] });
    expect(config.chains[0]?.signers).toMatchObject([{ type: 'mnemonic', count: 10 }]);
  });

  it('is one that the service accepts, for given nodes and keys', () => {
    const given = givenConfig(5, { rpcUrls: ['https://a.example/key', 'https://b.example'], signerKeys: [KEY] }, 3000);
    const config = asService(given, { DATABASE_URL: 'postgres://db/lockstep' });
    expect(config.chains[0]).toMatchObject({ id: 5, rpcUrls: ['https://a.example/key', 'https://b.example'] });
    expect(config.chains[0]?.signers).toMatchObject([{ type: 'privateKey', key: KEY }]);
  });

  it('holds no key, no password and no URL of the reader', () => {
    const given = givenConfig(5, { rpcUrls: ['https://a.example/key'], signerKeys: [KEY] }, 3000);
    expect(given.yaml).not.toMatch(/4444|example/);
    expect(devConfig('postgres://u:password@h/d', 'http://127.0.0.1:1', 1).yaml).not.toContain('password');
  });

  it('signs with the dev accounts on a dev chain only', () => {
    const given = { rpcUrls: ['http://node'], signerKeys: [] };
    expect(givenConfig(31337, given, 3000).yaml).toContain('mnemonic');
    expect(() => givenConfig(1, given, 3000)).toThrow(/SIGNER_PRIVATE_KEYS/);
  });
});

import { describe, expect, it } from '@jest/globals';
import { LaunchError } from '../../../src/dev/launch-error.js';
import { planLaunch, portFrom } from '../../../src/dev/launch-plan.js';

describe('what npm start does', () => {
  it('starts everything embedded when nothing is given', () => {
    expect(planLaunch({}, null)).toEqual({ kind: 'embedded' });
    expect(planLaunch({ DATABASE_URL: '', RPC_URL: ' , ' }, null)).toEqual({ kind: 'embedded' });
  });

  it('prefers LOCKSTEP_CONFIG to ./lockstep.yaml, and both to single URLs', () => {
    const urls = { DATABASE_URL: 'postgres://db', RPC_URL: 'http://node' };
    expect(planLaunch({ ...urls, LOCKSTEP_CONFIG: 'a.yaml' }, 'b.yaml')).toEqual({
      kind: 'config-file',
      path: 'a.yaml',
    });
    expect(planLaunch(urls, 'b.yaml')).toEqual({ kind: 'config-file', path: 'b.yaml' });
  });

  it('takes several nodes and keys, with commas', () => {
    const env = { DATABASE_URL: 'postgres://db', RPC_URL: 'http://a, http://b', SIGNER_PRIVATE_KEYS: '0x1,0x2' };
    expect(planLaunch(env, null)).toEqual({
      kind: 'given',
      rpcUrls: ['http://a', 'http://b'],
      signerKeys: ['0x1', '0x2'],
    });
  });

  it.each([{ DATABASE_URL: 'postgres://secret@db' }, { RPC_URL: 'http://node/secret' }])(
    'refuses half of a pair, names both, and repeats no URL: %j',
    (env) => {
      expect(() => planLaunch(env, null)).toThrow(/DATABASE_URL.*RPC_URL|RPC_URL.*DATABASE_URL/);
      expect(() => planLaunch(env, null)).not.toThrow(/secret/);
    },
  );

  it.each(['0', '70000', 'http', '3000.5', '-1'])('refuses PORT=%s', (PORT) => {
    expect(() => portFrom({ PORT }, 3000)).toThrow(LaunchError);
  });

  it('uses PORT, and the usual port without it', () => {
    expect(portFrom({ PORT: '4000' }, 3000)).toBe(4000);
    expect(portFrom({ PORT: '' }, 3000)).toBe(3000);
  });
});

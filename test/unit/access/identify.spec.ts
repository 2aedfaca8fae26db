import { expect, it } from '@jest/globals';
import { AuthConfig, type AuthMode } from '../../../src/config/index.js';
import { ANYONE, type Caller, DEFAULT_ACCOUNT, NO_LIMITS } from '../../../src/kernel/caller.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { Identify } from '../../../src/modules/access/application/identify.js';
import { KeyRing } from '../../../src/modules/access/application/key-ring.js';
import { Tokens } from '../../../src/modules/access/application/tokens.js';
import { UuidV7 } from '../../../src/platform/identity/uuid-v7.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemoryApiKeys } from './memory-api-keys.js';

const TOKENS = fakeOf(Tokens, {
  sessionOf: async (token) => ({ caller: { ...ANYONE, name: `token:${token}` }, isLive: () => true }),
});

async function identifyIn(
  mode: AuthMode,
): Promise<{ key: string; identify: (credential: string | null) => Promise<Caller> }> {
  const keys = new MemoryApiKeys();
  const ring = new KeyRing(keys, new FakeClock());
  const grant = { name: 'a', account: DEFAULT_ACCOUNT, scopes: ['tx:read'], only: NO_LIMITS, expiresAt: null } as const;
  const { text } = await new CreateKey(keys, new UuidV7()).execute(grant, ANYONE);
  await ring.refresh();
  const identify = new Identify(Object.assign(new AuthConfig(), { mode }), ring, TOKENS);
  return { key: text, identify: async (credential) => (await identify.execute(credential)).caller };
}

it('with keys, a request without a right one is nobody', async () => {
  const { key, identify } = await identifyIn('apiKeys');
  expect((await identify(key)).name).toMatch(/^key:/);
  for (const wrong of [null, '', 'ls_x'])
    await expect(identify(wrong)).rejects.toMatchObject({ code: 'unauthenticated' });
});

it('with tokens, a key is taken for a token, which it is not', async () => {
  const { key, identify } = await identifyIn('jwt');
  expect((await identify(key)).name).toBe(`token:${key}`);
  await expect(identify(null)).rejects.toMatchObject({ code: 'unauthenticated' });
});

it('where nobody is asked, everybody may do everything', async () => {
  const { identify } = await identifyIn('none');
  expect(await identify(null)).toEqual(ANYONE);
});

import { expect, it } from '@jest/globals';
import { AuthConfig } from '../../../src/config/index.js';
import { ANYONE, DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { Identify } from '../../../src/modules/access/application/identify.js';
import { KeyRing } from '../../../src/modules/access/application/key-ring.js';
import { UuidV7 } from '../../../src/platform/identity/uuid-v7.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { MemoryApiKeys } from './memory-api-keys.js';

it('with keys, a request without a right one is nobody', async () => {
  const keys = new MemoryApiKeys();
  const ring = new KeyRing(keys, new FakeClock());
  const grant = { name: 'a', account: DEFAULT_ACCOUNT, scopes: ['tx:read'] } as const;
  const { text, key } = await new CreateKey(keys, new UuidV7()).execute(grant, null);
  await ring.refresh();
  const identify = new Identify(new AuthConfig(), ring);
  expect(identify.execute(text).caller.name).toBe(`key:${key.id}`);
  for (const wrong of [null, '', 'ls_x'])
    expect(() => identify.execute(wrong)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
});

it('where nobody is asked, everybody may do everything', () => {
  const config = Object.assign(new AuthConfig(), { mode: 'none' });
  const session = new Identify(config, new KeyRing(new MemoryApiKeys(), new FakeClock())).execute(null);
  expect([session.caller, session.isLive()]).toEqual([ANYONE, true]);
});

import { expect, it } from '@jest/globals';
import { ANYONE, DEFAULT_ACCOUNT, NO_LIMITS } from '../../../src/kernel/caller.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { hashOf, parseKeyText } from '../../../src/modules/access/application/key-text.js';
import { UuidV7 } from '../../../src/platform/identity/uuid-v7.js';
import { MemoryApiKeys } from './memory-api-keys.js';

it('a key is stored as the hash of its secret only', async () => {
  const keys = new MemoryApiKeys();
  const { key, text } = await new CreateKey(keys, new UuidV7()).execute(
    { name: 'a', account: DEFAULT_ACCOUNT, scopes: ['keys:admin'], only: NO_LIMITS, expiresAt: null },
    ANYONE,
  );
  const { id, secret } = parseKeyText(text) ?? { id: '', secret: '' };
  const live = await keys.live();
  expect(live).toMatchObject([{ hash: hashOf(secret), key: { id, scopes: ['keys:admin'] } }]);
  expect(key.id).toBe(id);
  expect(JSON.stringify([live, key])).not.toContain(secret);
});

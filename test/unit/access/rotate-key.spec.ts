import { expect, it } from '@jest/globals';
import { ANYONE, type Caller, limitedTo } from '../../../src/kernel/caller.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { RotateKey } from '../../../src/modules/access/application/rotate-key.js';
import { UuidV7 } from '../../../src/platform/identity/uuid-v7.js';
import { MemoryApiKeys } from './memory-api-keys.js';

const ROTATION = { overlapMs: 60_000, expiresAt: undefined };
const ids = new UuidV7();
const ACCOUNT = ids.next();
const LIMITED = limitedTo(null, [7]);
const ENDS = new Date(5);

async function made(): Promise<{ keys: MemoryApiKeys; id: string; rotate: RotateKey }> {
  const keys = new MemoryApiKeys();
  const grant = { name: 'payouts', account: ACCOUNT, scopes: ['tx:write'], only: LIMITED, expiresAt: ENDS } as const;
  const { key } = await new CreateKey(keys, ids).execute(grant, ANYONE);
  return { keys, id: key.id, rotate: new RotateKey(keys, ids) };
}

it('the new key may do what the old one may, and has another id and secret', async () => {
  const { id, rotate, keys } = await made();
  const { key } = await rotate.execute(id, ROTATION, ANYONE);
  expect(key).toMatchObject({
    name: 'payouts',
    account: ACCOUNT,
    scopes: ['tx:write'],
    only: LIMITED,
    expiresAt: ENDS,
  });
  expect(key.id).not.toBe(id);
  const hashes = (await keys.live()).map(({ hash }) => hash);
  expect(new Set(hashes).size).toBe(2);
});

it('nobody gets a key by rotation that may do more than they', async () => {
  const { id, rotate, keys } = await made();
  const caller: Caller = { ...ANYONE, scopes: ['keys:admin', 'tx:read'] };
  await expect(rotate.execute(id, ROTATION, caller)).rejects.toMatchObject({
    code: 'missing_scope',
    facts: { missing: ['tx:write'] },
  });
  const ofOtherChain: Caller = { ...ANYONE, only: limitedTo(null, [8]) };
  await expect(rotate.execute(id, ROTATION, ofOtherChain)).rejects.toMatchObject({ code: 'outside_limits' });
  const ending: Caller = { ...ANYONE, endsAt: ENDS };
  const later = { ...ROTATION, expiresAt: new Date(6) };
  await expect(rotate.execute(id, later, ending)).rejects.toMatchObject({
    code: 'outlives_maker',
    facts: { endsAt: ENDS.toISOString() },
  });
  expect(await keys.live()).toHaveLength(1);
  expect((await rotate.execute(id, ROTATION, ending)).key.expiresAt).toEqual(ENDS);
});

it('a key of another account is not rotated, but by the operators', async () => {
  const { id, rotate } = await made();
  const stranger: Caller = { ...ANYONE, account: ids.next() };
  await expect(rotate.execute(id, ROTATION, stranger)).rejects.toMatchObject({ code: 'key_not_found' });
  const owner: Caller = { ...ANYONE, account: ACCOUNT };
  for (const caller of [owner, ANYONE]) expect((await rotate.execute(id, ROTATION, caller)).key.account).toBe(ACCOUNT);
});

it('a key that has ended, or that there is not, is not rotated', async () => {
  const { id, rotate, keys } = await made();
  await keys.revoke(id);
  await expect(rotate.execute(id, ROTATION, ANYONE)).rejects.toMatchObject({ code: 'key_ended' });
  await expect(rotate.execute(ids.next(), ROTATION, ANYONE)).rejects.toMatchObject({ code: 'key_not_found' });
});

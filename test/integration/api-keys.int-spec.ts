import { expect, it } from '@jest/globals';
import { ANYONE, type CallerLimits, limitedTo, NO_LIMITS } from '../../src/kernel/caller.js';
import { parseAddress } from '../../src/kernel/hex.js';
import { ALL_KEYS, type ApiKey } from '../../src/modules/access/domain/api-key.js';
import { PgApiKeys } from '../../src/modules/access/infrastructure/pg-api-keys.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import { UuidV7 } from '../../src/platform/identity/uuid-v7.js';
import { storedRows } from '../support/stored-rows.js';

const stored = await storedRows();
const keys = new PgApiKeys(stored.node.database, new PgAuditLog(stored.node.database, stored.node.database));
const ids = new UuidV7();
const OURS = parseAddress(`0x${'ab'.repeat(20)}`);

async function putAccount(name: string): Promise<string> {
  const account = ids.next();
  await stored.put('account', { account_id: account, name });
  return account;
}

function add(grant: Pick<ApiKey, 'name' | 'account' | 'only'>): Promise<ApiKey> {
  return keys.add({ ...grant, id: ids.next(), scopes: ['tx:read'], hash: 'a'.repeat(64), expiresAt: null }, ANYONE);
}

it('a key has the account and the limits that it was made with, also after a rotation', async () => {
  const account = await putAccount('shop');
  const only = limitedTo([{ chainId: 7, address: OURS }], null);
  const grant = { name: 'payouts', account, scopes: ['tx:read'], only, expiresAt: null } as const;
  const { id } = await keys.add({ ...grant, id: ids.next(), hash: 'a'.repeat(64) }, ANYONE);
  await keys.rotate(id, { id: ids.next(), hash: 'b'.repeat(64), expiresAt: undefined }, 60_000, ANYONE);
  expect((await keys.live()).map(({ key }) => key)).toEqual([
    expect.objectContaining({ ...grant, id, revokedAt: expect.any(Date) }),
    expect.objectContaining(grant),
  ]);
});

it('a key that is rotated a second time gives the end that it was made with, and a revocation ends its overlap', async () => {
  const { id } = await add({ name: 'lost answer', account: await putAccount('lost'), only: NO_LIMITS });
  const rotate = (): Promise<ApiKey | null> =>
    keys.rotate(id, { id: ids.next(), hash: 'b'.repeat(64), expiresAt: undefined }, 60_000, ANYONE);
  expect([(await rotate())?.expiresAt, (await rotate())?.expiresAt]).toEqual([null, null]);
  const left = (await keys.live()).find(({ key }) => key.id === id)?.endsInMs ?? 0;
  expect([left > 30_000, left <= 60_000]).toEqual([true, true]);
  await keys.revoke(id, ALL_KEYS, ANYONE);
  expect((await keys.live()).filter(({ key }) => key.id === id)).toEqual([]);
  expect(await rotate()).toBeNull();
});

it('whoever is limited manages only the keys that are limited to no more', async () => {
  const [account, other] = [await putAccount('a'), await putAccount('b')];
  const [one, two] = [
    { chainId: 7, address: OURS },
    { chainId: 8, address: OURS },
  ];
  const limits = {
    free: NO_LIMITS,
    chain7: limitedTo(null, [7]),
    both: limitedTo(null, [7, 8]),
    one: limitedTo([one], null),
    two: limitedTo([two], null),
  };
  const made = await Promise.all(Object.entries(limits).map(([name, only]) => add({ name, account, only })));
  const managed = async (only: CallerLimits, of: string | null): Promise<string[]> => {
    const manager = { account: of, only };
    const names = (await keys.list(null, 99, manager)).map(({ name }) => name);
    for (const { id, name } of made)
      expect([name, (await keys.find(id, manager)) !== null]).toEqual([name, names.includes(name)]);
    return names.sort();
  };
  expect(await managed(NO_LIMITS, account)).toEqual(Object.keys(limits).sort());
  expect(await managed(NO_LIMITS, null)).toEqual(Object.keys(limits).sort());
  expect(await managed(NO_LIMITS, other)).toEqual([]);
  expect(await managed(limits.chain7, account)).toEqual(['chain7', 'one']);
  expect(await managed(limits.one, account)).toEqual(['one']);
  const free = made.find(({ name }) => name === 'free')?.id ?? '';
  expect(await keys.revoke(free, { account, only: limits.both }, ANYONE)).toBeNull();
  expect(await keys.revoke(free, ALL_KEYS, ANYONE)).toMatchObject({ id: free, revokedAt: expect.any(Date) });
});

it('a key cannot be used while its account is disabled', async () => {
  const [shop, bank] = [await putAccount('shop'), await putAccount('bank')];
  const make = (account: string, name: string) => add({ name, account, only: NO_LIMITS });
  await make(shop, 'of the shop');
  await make(bank, 'of the bank');
  const live = async (): Promise<string[]> => (await keys.live()).map(({ key }) => key.name).sort();
  expect(await live()).toEqual(['of the bank', 'of the shop']);
  await stored.node.database.query(
    { name: 'test_disable', text: 'UPDATE account SET disabled_at = now() WHERE account_id = $1' },
    [shop],
  );
  expect(await live()).toEqual(['of the bank']);
});

it.each(['null', '5', '[]'])(
  'limits of an account that are %s are not stored: no node could read them',
  async (limits) => {
    const account = ids.next();
    await expect(stored.put('account', { account_id: account, name: 'shop', limits })).rejects.toThrow(
      'account_limits_check',
    );
  },
);

import { expect, it } from '@jest/globals';
import { PgApiKeys } from '../../src/modules/access/infrastructure/pg-api-keys.js';
import { ANYONE } from '../../src/kernel/caller.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import { UuidV7 } from '../../src/platform/identity/uuid-v7.js';
import { storedRows } from '../support/stored-rows.js';

const stored = await storedRows();
const keys = new PgApiKeys(stored.node.database, new PgAuditLog(stored.node.database, stored.node.database));
const ids = new UuidV7();

async function putAccount(name: string): Promise<string> {
  const account = ids.next();
  await stored.put('account', { account_id: account, name });
  return account;
}

it('a key has the account that it was made for, also after a rotation', async () => {
  const account = await putAccount('shop');
  const grant = { name: 'payouts', account, scopes: ['tx:read'] } as const;
  const { id } = await keys.add({ ...grant, id: ids.next(), hash: 'a'.repeat(64), expiresAt: null }, ANYONE);
  await keys.rotate(id, { id: ids.next(), hash: 'b'.repeat(64), expiresAt: undefined }, 60_000, ANYONE);
  expect((await keys.live()).map(({ key }) => key)).toEqual([
    expect.objectContaining({ ...grant, id }),
    expect.objectContaining(grant),
  ]);
});

it('a key cannot be used while its account is disabled', async () => {
  const [shop, bank] = [await putAccount('shop'), await putAccount('bank')];
  const make = (account: string, name: string) =>
    keys.add({ id: ids.next(), name, account, scopes: ['tx:read'], hash: 'a'.repeat(64), expiresAt: null }, ANYONE);
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

import { expect, it } from '@jest/globals';
import type { AuditFilter } from '../../src/kernel/audit-log.js';
import { ANYONE, DEFAULT_ACCOUNT, NO_LIMITS } from '../../src/kernel/caller.js';
import { ALL_KEYS } from '../../src/modules/access/domain/api-key.js';
import { PgAccounts } from '../../src/modules/access/infrastructure/pg-accounts.js';
import { PgApiKeys } from '../../src/modules/access/infrastructure/pg-api-keys.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import { UuidV7 } from '../../src/platform/identity/uuid-v7.js';
import { storedRows } from '../support/stored-rows.js';

const stored = await storedRows();
const { database } = stored.node;
const audit = new PgAuditLog(database, database);
const ids = new UuidV7();
const ALL: AuditFilter = { account: null, actor: null, action: null, object: null, since: null, until: null };

const listed = async (filter: Partial<AuditFilter> = {}, before: string | null = null, limit = 9) =>
  (await audit.list({ ...ALL, ...filter }, before, limit)).map(({ object }) => object);

it('an entry is there when what was done is committed, and not otherwise', async () => {
  const action = { by: ANYONE, action: 'createKey', object: 'key:1' };
  const failing = database.transaction(async (tx) => {
    await audit.record(action, tx);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await listed()).toEqual([]);
  await database.transaction((tx) => audit.record(action, tx));
  expect(await listed()).toEqual(['key:1']);
});

it('nothing is done to accounts and keys whose entry cannot be written', async () => {
  const broken = Object.assign(new PgAuditLog(database, database), {
    record: () => Promise.reject(new Error('no entry')),
  });
  const [accounts, keys] = [new PgAccounts(database, audit), new PgApiKeys(database, audit)];
  const key = {
    id: ids.next(),
    name: 'x',
    account: DEFAULT_ACCOUNT,
    scopes: ['tx:read'],
    hash: 'a'.repeat(64),
    only: NO_LIMITS,
    expiresAt: null,
  } as const;
  await keys.add(key, ANYONE);
  await accounts.add({ id: ids.next(), name: 'shop', limits: null }, ANYONE);
  const before = [await accounts.all(), await keys.list(null, 9, ALL_KEYS)];
  const [badAccounts, badKeys] = [new PgAccounts(database, broken), new PgApiKeys(database, broken)];
  for (const change of [
    () => badAccounts.add({ id: ids.next(), name: 'bank', limits: null }, ANYONE),
    () => badAccounts.setDisabled('shop', true, ANYONE),
    () => badAccounts.setLimits('shop', { streams: 1 }, ANYONE),
    () => badKeys.add({ ...key, id: ids.next(), hash: 'b'.repeat(64) }, ANYONE),
    () => badKeys.rotate(key.id, { id: ids.next(), hash: 'c'.repeat(64), expiresAt: undefined }, 0, ANYONE),
    () => badKeys.revoke(key.id, ALL_KEYS, ANYONE),
  ])
    await expect(change()).rejects.toThrow('no entry');
  expect([await accounts.all(), await keys.list(null, 9, ALL_KEYS)]).toEqual(before);
});

it('entries are found by who, what, of what, and when, newest first', async () => {
  const shop = ids.next();
  await stored.put('account', { account_id: shop, name: 'shop' });
  await stored.put('account', { account_id: DEFAULT_ACCOUNT, name: 'default' });
  for (const [name, account, action, object] of [
    ['key:a', DEFAULT_ACCOUNT, 'createKey', 'key:1'],
    ['key:a', DEFAULT_ACCOUNT, 'revokeKey', 'key:1'],
    ['key:b', shop, 'createWebhook', 'webhook:1'],
  ] as const)
    await audit.record({ by: { name, account }, action, object, detail: { n: 1 } });
  const all = await audit.list(ALL, null, 9);
  expect(all.map(({ actor, account, action }) => [actor, account, action])).toEqual([
    ['key:b', 'shop', 'createWebhook'],
    ['key:a', 'default', 'revokeKey'],
    ['key:a', 'default', 'createKey'],
  ]);
  expect(all[0]).toMatchObject({ object: 'webhook:1', detail: { n: 1 }, at: expect.any(Date) });
  expect(await listed({ account: shop })).toEqual(['webhook:1']);
  expect(await listed({ account: DEFAULT_ACCOUNT, action: 'revokeKey' })).toEqual(['key:1']);
  expect(await listed({ actor: 'key:b' })).toEqual(['webhook:1']);
  expect(await listed({ object: 'key:1' }, all[1]?.seq)).toEqual(['key:1']);
  const [first, later] = [new Date(all[2]?.at ?? 0), new Date(Date.now() + 60_000)];
  expect(await listed({ since: first }, null, 2)).toHaveLength(2);
  expect(await listed({ since: later })).toEqual([]);
  expect([await listed({ until: first }), await listed({ until: later })]).toEqual([
    [],
    ['webhook:1', 'key:1', 'key:1'],
  ]);
});

it('no more is read than a page of a megabyte, and the entry after it', async () => {
  const by = { name: 'key:a', account: DEFAULT_ACCOUNT };
  for (const object of ['1', '2', '3', '4'])
    await audit.record({ by, action: 'setPolicy', object, detail: { rules: 'x'.repeat(600_000) } });
  expect(await listed({}, null, 200)).toEqual(['4', '3']);
  expect(await listed({}, (await audit.list(ALL, null, 1))[0]?.seq ?? null, 1)).toEqual(['3']);
});

it('after an entry that is longer than a page, the next one is read as well, which says that there is another page', async () => {
  const by = { name: 'key:a', account: DEFAULT_ACCOUNT };
  for (const object of ['1', '2', '3'])
    await audit.record({ by, action: 'setPolicy', object, detail: { rules: 'x'.repeat(1_200_000) } });
  expect(await listed({}, null, 200)).toEqual(['3', '2']);
});

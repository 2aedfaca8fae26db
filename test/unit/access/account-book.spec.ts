import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { beforeEach, expect, it } from '@jest/globals';
import { AccountBook } from '../../../src/modules/access/application/account-book.js';
import type { Account } from '../../../src/modules/access/domain/account.js';
import { Accounts } from '../../../src/modules/access/domain/accounts.js';
import { LimitsConfig } from '../../../src/config/lockstep-config.js';
import { AccountLimits } from '../../../src/platform/limits/account-limits.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { anAccount } from './an-account.js';

let stored: Account[];
let limits: AccountLimits;
let book: AccountBook;

beforeEach(() => {
  stored = [anAccount('shop')];
  const config = new LimitsConfig();
  config.account.streams = 7;
  limits = new AccountLimits(config, new FakeMetrics());
  book = new AccountBook(fakeOf(Accounts, { all: async () => stored }), limits);
});

it('knows the accounts by name as they were read last, and none before', async () => {
  expect(() => book.idOf('shop')).toThrow(expect.objectContaining({ code: 'starting', retryable: true }));
  await book.refresh();
  expect([book.idOf('shop'), book.idOf('bank')]).toEqual(['id-shop', null]);
  stored = [anAccount('bank'), anAccount('shop', { disabledAt: new Date(0) })];
  await book.refresh();
  expect([book.idOf('shop'), book.idOf('bank')]).toEqual([null, 'id-bank']);
});

it('limits an account as it was read last: null is no limit, and what it has not, or cannot be, is as the config has it', async () => {
  stored = [anAccount('shop', { limits: { requestsPerSecond: 5, bytesPerSecond: null } })];
  await book.refresh();
  expect(limits.of('id-shop')).toMatchObject({ requestsPerSecond: 5, bytesPerSecond: Infinity, streams: 7 });
  expect(limits.of('id-bank').streams).toBe(7);
  stored = [anAccount('shop', { limits: { streams: 0, newerThanThis: 1 } })];
  await book.refresh();
  expect(limits.of('id-shop')).toMatchObject({ requestsPerSecond: Infinity, bytesPerSecond: Infinity, streams: 7 });
});

it('keeps the newest answer when an older one comes later', async () => {
  const before = stored;
  let arrives = (): void => undefined;
  const late = new Promise<Account[]>((resolve) => (arrives = () => resolve(before)));
  const answers = [late, Promise.resolve([anAccount('shop', { limits: { streams: 2 }, disabledAt: new Date(0) })])];
  book = new AccountBook(fakeOf(Accounts, { all: () => answers.shift() ?? Promise.resolve([]) }), limits);
  const slow = book.refresh();
  await book.refresh();
  arrives();
  await slow;
  expect([book.idOf('shop'), limits.of('id-shop').streams]).toEqual([null, 2]);
});

it('leaves the limits that did not change as they are', async () => {
  stored = [anAccount('shop', { limits: { streams: 2 } }), anAccount('bank', { limits: { streams: 2 } })];
  await book.refresh();
  const [shop, bank] = [limits.of('id-shop'), limits.of('id-bank')];
  stored = [anAccount('bank', { limits: { streams: 3 } }), anAccount('shop', { limits: { streams: 2 } })];
  await book.refresh();
  expect(limits.of('id-shop')).toBe(shop);
  expect(limits.of('id-bank')).not.toBe(bank);
  expect(limits.of('id-bank').streams).toBe(3);
});

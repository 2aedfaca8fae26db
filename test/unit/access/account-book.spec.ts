import { expect, it } from '@jest/globals';
import { AccountBook } from '../../../src/modules/access/application/account-book.js';
import { LiveAccounts } from '../../../src/modules/access/domain/live-accounts.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

it('knows the accounts by name as they were read last, and none before', async () => {
  let names = ['shop'];
  const all = async () => names.map((name) => ({ id: `id-${name}`, name }));
  const book = new AccountBook(fakeOf(LiveAccounts, { all }));
  expect(() => book.idOf('shop')).toThrow(expect.objectContaining({ code: 'starting', retryable: true }));
  await book.refresh();
  expect([book.idOf('shop'), book.idOf('bank')]).toEqual(['id-shop', null]);
  names = ['bank'];
  await book.refresh();
  expect([book.idOf('shop'), book.idOf('bank')]).toEqual([null, 'id-bank']);
});

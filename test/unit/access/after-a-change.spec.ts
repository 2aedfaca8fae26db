import { beforeEach, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { AuthConfig, DatabaseConfig, NodeConfig } from '../../../src/config/lockstep-config.js';
import { ANYONE, DEFAULT_ACCOUNT, NO_LIMITS } from '../../../src/kernel/caller.js';
import { Unavailable } from '../../../src/kernel/errors.js';
import { IdGenerator } from '../../../src/kernel/id-generator.js';
import { AccountBook } from '../../../src/modules/access/application/account-book.js';
import { CreateKey } from '../../../src/modules/access/application/create-key.js';
import { KeyRing } from '../../../src/modules/access/application/key-ring.js';
import { RotateKey } from '../../../src/modules/access/application/rotate-key.js';
import type { ApiKey } from '../../../src/modules/access/domain/api-key.js';
import { Accounts } from '../../../src/modules/access/domain/accounts.js';
import { ApiKeys } from '../../../src/modules/access/domain/api-keys.js';
import { AccountsController } from '../../../src/modules/access/infrastructure/http/accounts.controller.js';
import { KeysController } from '../../../src/modules/access/infrastructure/http/keys.controller.js';
import { KeyRefresh } from '../../../src/modules/access/infrastructure/key-refresh.js';
import { setSender } from '../../../src/platform/http/scope.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { anAccount } from './an-account.js';

const KEY: ApiKey = {
  id: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  account: DEFAULT_ACCOUNT,
  name: 'a',
  scopes: ['tx:read'],
  only: NO_LIMITS,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  createdAt: new Date(0),
};

/** The database goes away when a change was committed: what is read after it fails. */
let reads: string[];
let keys: KeysController;
let accounts: AccountsController;
const request = { raw: {} } as FastifyRequest;
setSender(request, { caller: ANYONE, wasForwarded: false });

beforeEach(() => {
  reads = [];
  const away = (what: string) => async (): Promise<never> => {
    reads.push(what);
    throw new Unavailable('database_unavailable', 'the database is away', 'try again');
  };
  const log = new RecordingLog();
  const refresh = new KeyRefresh(
    fakeOf(KeyRing, { refresh: away('keys') }),
    fakeOf(AccountBook, { refresh: away('accounts') }),
    tickersWith(log),
    new DatabaseConfig(),
    Object.assign(new AuthConfig(), { mode: 'apiKeys' }),
    new NodeConfig(),
    log,
  );
  const [key, account] = [KEY, anAccount('shop')];
  const stored = fakeOf(Accounts, {
    add: async () => account,
    setLimits: async () => account,
    setDisabled: async () => account,
  });
  keys = new KeysController(
    fakeOf(ApiKeys, { revoke: async () => key }),
    stored,
    fakeOf(CreateKey, { execute: async () => ({ key, text: 'ls_text' }) }),
    fakeOf(RotateKey, { execute: async () => ({ key, text: 'ls_text' }) }),
    refresh,
    Object.assign(new AuthConfig(), { mode: 'apiKeys' }),
  );
  accounts = new AccountsController(stored, fakeOf(IdGenerator, { next: () => 'id' }), refresh);
});

it.each<[string, () => Promise<object>, object]>([
  ['created', () => keys.create({ name: 'a', scopes: ['tx:read'] }, request), { key: 'ls_text' }],
  ['rotated', () => keys.rotate(KEY.id, {}, request), { key: 'ls_text' }],
  ['revoked', () => keys.revoke(KEY.id, request), { id: KEY.id }],
])('a key that was %s is answered also when the keys cannot be read then', async (_, change, answer) => {
  expect(await change()).toMatchObject(answer);
  expect(reads).toContain('keys');
});

it.each<[string, () => Promise<object>]>([
  ['created', () => accounts.create({ name: 'shop' }, request)],
  ['limited', () => accounts.setLimits('shop', {}, request)],
  ['disabled', () => accounts.disable('shop', request)],
  ['enabled', () => accounts.enable('shop', request)],
])('an account that was %s is answered also when the accounts cannot be read then', async (_, change) => {
  expect(await change()).toMatchObject({ name: 'shop' });
  expect(reads.sort()).toEqual(['accounts', 'keys']);
});

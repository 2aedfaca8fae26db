import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { ANYONE, NO_LIMITS } from '../../../src/kernel/caller.js';
import { Accounts } from '../../../src/modules/access/index.js';
import { PauseSigner } from '../../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../../src/modules/ops/application/resume-signer.js';
import { StopsController } from '../../../src/modules/ops/infrastructure/http/stops.controller.js';
import { type Pause, type PauseScope, SignerPauses } from '../../../src/modules/signers/index.js';
import { anAddress, aPauseOrder, DEV_CHAIN } from '../../support/builders.js';
import { type Answer, type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const ADDRESS = anAddress(0xab);
const SHOP = { id: 'id-of-shop', name: 'shop' };
const SINCE = new Date('2026-11-21T08:00:00Z');
const [ALL, CHAIN] = [
  { chainId: null, address: null },
  { chainId: DEV_CHAIN, address: null },
];
const inForce = (scope: PauseScope): Pause => ({
  account: null,
  ...scope,
  by: aPauseOrder().by,
  reason: null,
  since: SINCE,
});
const shown = { account: null, since: SINCE.toISOString(), by: 'api', reason: null };

let http: HttpApp;
let calls: unknown[][];
let pauses: Pause[];

beforeAll(async () => {
  const record =
    (what: string) =>
    async (scope: PauseScope, ...more: unknown[]) => {
      calls.push([what, scope, ...more]);
      return inForce(scope);
    };
  http = await startHttpApp({
    controllers: [StopsController],
    providers: [
      { provide: PauseSigner, useValue: { execute: record('stop') } },
      { provide: Accounts, useValue: { find: async (name: string) => ({ ...SHOP, name }) } },
      { provide: ResumeSigner, useValue: { execute: record('go') } },
      {
        provide: SignerPauses,
        useValue: { list: async (...args: unknown[]) => (calls.push(['list', ...args]), pauses) },
      },
    ],
  });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [calls, pauses] = [[], []];
});

const post = (what: string, payload?: object): Promise<Answer> =>
  send(http.port, { method: 'POST', url: `/api/v1/${what}`, ...(payload && { payload }) });
const get = (query = ''): Promise<Answer> => send(http.port, { method: 'GET', url: `/api/v1/stops${query}` });

it('a stop is of everything, a chain, an address or a signer, with its reason', async () => {
  for (const body of [
    undefined,
    { chainId: DEV_CHAIN },
    { signer: ADDRESS },
    { chainId: DEV_CHAIN, signer: ADDRESS, reason: 'why' },
  ])
    expect(await post('stop', body)).toMatchObject({ status: 200 });
  expect(await post('go', { chainId: DEV_CHAIN })).toMatchObject({ status: 204, text: '' });
  const asked = (reason: string | null, action = 'stopSigners') => ({ by: ANYONE, action, reason });
  expect(calls).toEqual([
    ['stop', ALL, asked(null)],
    ['stop', CHAIN, asked(null)],
    ['stop', { chainId: null, address: ADDRESS }, asked(null)],
    ['stop', { chainId: DEV_CHAIN, address: ADDRESS }, asked('why')],
    ['go', CHAIN, asked(null, 'endStop')],
  ]);
});

it('a stop is of an account, and of nothing else then', async () => {
  const account = { ...ALL, account: SHOP };
  const { text } = await post('stop', { account: 'shop', reason: 'why' });
  expect(JSON.parse(text)).toEqual({ chainId: null, signer: null, ...shown, account: 'shop' });
  expect(await post('go', { account: 'shop' })).toMatchObject({ status: 204 });
  expect(calls.map(([what, scope]) => [what, scope])).toEqual([
    ['stop', account],
    ['go', account],
  ]);
  for (const more of [{ chainId: DEV_CHAIN }, { signer: ADDRESS }])
    expect(JSON.parse((await post('stop', { account: 'shop', ...more })).text)).toMatchObject({
      code: 'account_or_signers',
    });
  expect((await post('stop', { account: 'no name' })).status).toBe(400);
  expect(calls).toHaveLength(2);
});

it('the list goes on behind a stop of an account', async () => {
  pauses = [inForce({ ...ALL, account: SHOP }), inForce(CHAIN)];
  const { items, nextCursor } = JSON.parse((await get('?limit=1')).text);
  expect(items).toMatchObject([{ account: 'shop' }]);
  await get(`?cursor=${nextCursor}`);
  expect(calls[1]).toEqual(['list', { chainId: 0, address: null, account: 'shop' }, 51, NO_LIMITS, null]);
});

it('a stop is answered as it is in force', async () => {
  expect(JSON.parse((await post('stop', {})).text)).toEqual({ chainId: null, signer: null, ...shown });
});

it.each([{ chainId: 0 }, { chainId: '31337' }, { signer: 'me' }, { signer: `0x${'Ab'.repeat(20)}` }, { chain: 1 }])(
  'nothing is stopped for %j',
  async (body) => {
    for (const what of ['stop', 'go']) expect((await post(what, body)).status).toBe(400);
    expect(calls).toEqual([]);
  },
);

it('the list goes on where the page before ended', async () => {
  pauses = [inForce(ALL), inForce(CHAIN)];
  const first = JSON.parse((await get('?limit=1')).text);
  expect(first.items).toEqual([{ chainId: null, signer: null, ...shown }]);
  pauses = [inForce(CHAIN), inForce({ chainId: DEV_CHAIN, address: ADDRESS })];
  const second = JSON.parse((await get(`?limit=1&cursor=${first.nextCursor}`)).text);
  expect(second.items).toEqual([{ chainId: DEV_CHAIN, signer: null, ...shown }]);
  pauses = [];
  expect(JSON.parse((await get(`?cursor=${second.nextCursor}`)).text)).toEqual({ items: [], nextCursor: null });
  expect(calls).toEqual([
    ['list', null, 2, NO_LIMITS, null],
    ['list', { chainId: 0, address: null, account: '' }, 2, NO_LIMITS, null],
    ['list', { ...CHAIN, account: '' }, 51, NO_LIMITS, null],
  ]);
  expect((await get('?cursor=nothing')).status).toBe(400);
});

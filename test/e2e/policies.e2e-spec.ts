import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { type AnyBody, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [SIGNER, RECEIVER, STRANGER] = DEV_ACCOUNTS;

let anvil: RunningAnvil;
let database: TestDatabase;
let node: Service;

beforeAll(async () => {
  [anvil, database] = await Promise.all([
    startAnvil({ chainId: DEV_CHAIN, extraArgs: ['--no-mining'] }),
    createTestDatabase(),
  ]);
  const policy = { to: [{ address: RECEIVER, selectors: ['0x'] }], maxValue: '60', dailyValue: '100' };
  const signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 1, policy }];
  node = await Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: { confirmations: { required: 2 } },
    chain: { signers },
  });
});

afterAll(async () => {
  await node.stop();
  await anvil.stop();
  await database.drop();
});

const asking = (requestId: string, value: string, to: string = RECEIVER) => ({
  signer: SIGNER,
  requestId,
  payload: { to, value },
});

const refusedBy = (rule: string) => ({ status: 403, code: 'policy_refused', facts: { rule } });

it('what a policy refuses gets 403 with the rule: alone, in a batch, and as a replacement; a simulation only says so', async () => {
  expect((await node.post('/api/v1/tx', asking('a', '61'))).body).toMatchObject(refusedBy('maxValue'));
  expect((await node.post('/api/v1/tx', asking('b', '1', STRANGER))).body).toMatchObject(refusedBy('to'));
  const batch = { items: [asking('c', '61'), asking('d', '10')] };
  const { body } = await node.post<{ items: AnyBody[] }>('/api/v1/tx/batch', batch);
  expect(body.items).toMatchObject([{ status: 403, problem: refusedBy('maxValue') }, { status: 202 }]);
  const { txId } = (await node.get<{ items: TxView[] }>('/api/v1/tx')).body.items[0] ?? { txId: '' };
  const replacement = { requestId: 'e', payload: asking('e', '61').payload };
  expect((await node.post(`/api/v1/tx/${txId}/replace`, replacement)).body).toMatchObject(refusedBy('maxValue'));
  const simulated = await node.post('/api/v1/tx/simulate', asking('f', '61'));
  expect(simulated).toMatchObject({
    status: 200,
    body: { outcome: 'succeeds', policy: { verdict: 'refused', rule: 'maxValue', dryRun: false } },
  });
});

it('what the day has no room for waits, and says why', async () => {
  const ids = await Promise.all(
    ['60', '60'].map(async (value, index) => {
      const { body } = await node.post<TxView>('/api/v1/tx', asking(`daily-${index}`, value));
      return body.txId;
    }),
  );
  const read = async (): Promise<TxView[]> =>
    Promise.all(ids.map(async (txId) => (await node.get<TxView>(`/api/v1/tx/${txId}`)).body));
  await until('one is held', async () => (await read()).some(({ subState }) => subState === 'POLICY_HELD'));
  const held = (await read()).find(({ subState }) => subState === 'POLICY_HELD');
  const { body } = await node.get<{ summary: string }>(`/api/v1/tx/${held?.txId ?? ''}/explain`);
  expect(body.summary).toContain('daily amount');
  expect((await node.get('/metrics')).body['text']).toContain('policy_held_total{rule="dailyValue",mode="enforced"}');
});

describe('a replacement of what waits', () => {
  const pathOf = `/api/v1/signers/${DEV_CHAIN}/${SIGNER}`;
  const waiting = async (requestId: string): Promise<string> => {
    const { body } = await node.post<TxView>('/api/v1/tx', asking(requestId, '1'));
    expect(body.state).toBe('PENDING');
    return `/api/v1/tx/${body.txId}/replace`;
  };
  beforeAll(() => node.post(`${pathOf}/pause`, {}));
  afterAll(() => node.post(`${pathOf}/resume`, {}));

  it('is judged also where its requestId is that of a transaction: it is no repetition of that', async () => {
    const replace = await waiting('g');
    const { payload } = asking('g', '61');
    expect((await node.post(replace, { requestId: 'g', payload })).body).toMatchObject(refusedBy('maxValue'));
    const callback = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
    const called = { requestId: 'g', payload: asking('g', '2').payload, callback };
    expect((await node.post(replace, called)).body).toMatchObject({ status: 422, code: 'unknown_webhook' });
    expect((await node.get<TxView>(replace.replace('/replace', ''))).body.payload.value).toBe('1');
  });

  it('that was stored is answered again, also when it would be refused now', async () => {
    const replace = await waiting('h');
    const { id } = (await node.post<{ id: string }>('/api/v1/webhooks', { url: 'https://example.com/' })).body;
    const asked = { requestId: 'i', payload: asking('h', '2').payload, callback: id };
    const stored = await node.post(replace, asked);
    expect(stored.status).toBe(200);
    await node.call('DELETE', `/api/v1/webhooks/${id}`, null);
    const again = await node.post(replace, asked);
    expect([again.status, again.body['commandId']]).toEqual([200, stored.body['commandId']]);
    const other = { ...asked, payload: asking('h', '3').payload };
    expect((await node.post(replace, other)).body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  });
});

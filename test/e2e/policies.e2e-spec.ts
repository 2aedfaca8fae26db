import { afterAll, beforeAll, expect, it } from '@jest/globals';
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

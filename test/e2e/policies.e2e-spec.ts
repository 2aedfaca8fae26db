import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Signature, verifyTypedData } from 'ethers';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { DEV_ACCOUNTS, type RunningAnvil, startAnvil } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { type AnyBody, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [SIGNER, RECEIVER, STRANGER] = DEV_ACCOUNTS;
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

let anvil: RunningAnvil;
let database: TestDatabase;
let node: Service;

beforeAll(async () => {
  [anvil, database] = await Promise.all([
    startAnvil({ chainId: DEV_CHAIN, extraArgs: ['--no-mining'] }),
    createTestDatabase(),
  ]);
  const typedData = [`${TOKEN}/Permit`];
  const policy = { to: [{ address: RECEIVER, selectors: ['0x'] }], maxValue: '60', dailyValue: '100', typedData };
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

describe('typed data', () => {
  const DATA = {
    domain: { name: 'Token', version: '1', chainId: DEV_CHAIN, verifyingContract: TOKEN },
    types: { Permit: [{ name: 'value', type: 'uint256' }] },
    primaryType: 'Permit',
    message: { value: '1000' },
  };
  const asked = (change: object = {}, signer: string = SIGNER) =>
    node.post(`/api/v1/signers/${DEV_CHAIN}/${signer}/sign-typed-data`, { ...DATA, ...change });

  it('that the policy names is signed, and is in the audit log with its message', async () => {
    const { status, body } = await asked();
    expect(status).toBe(200);
    const { signature, digest, r, s, v } = body as Record<string, string>;
    expect(verifyTypedData(DATA.domain, DATA.types, DATA.message, signature ?? '')).toBe(SIGNER);
    expect(Signature.from(signature)).toMatchObject({ r, s, v });
    const { items } = (await node.get<{ items: AnyBody[] }>('/api/v1/audit?action=signTypedData')).body;
    const detail = { digest, ...DATA };
    expect(items).toMatchObject([{ object: `signer:${DEV_CHAIN}:${SIGNER.toLowerCase()}`, detail }]);
  });

  it('that it does not name is refused, as is what is for another chain, too large, or of a signer without a key here', async () => {
    const domain = { ...DATA.domain, verifyingContract: STRANGER };
    expect(await asked({ domain })).toMatchObject({ status: 403, body: refusedBy('typedData') });
    expect((await asked({ domain: { ...DATA.domain, chainId: 1 } })).body).toMatchObject({ code: 'wrong_chain' });
    expect((await asked({ primaryType: 'Order' })).body).toMatchObject({ status: 400, code: 'invalid_typed_data' });
    const types = { Permit: [{ name: 'value', type: 'uint256[]' }] };
    const message = { value: Array.from({ length: 501 }, () => 1) };
    expect((await asked({ types, message })).body).toMatchObject({ status: 422, code: 'typed_data_too_large' });
    expect((await asked({}, STRANGER)).body).toMatchObject({ status: 422, code: 'no_key_here' });
  });

  it('is not signed while its signer is stopped', async () => {
    const scope = { chainId: DEV_CHAIN, signer: SIGNER };
    expect((await node.post('/api/v1/stop', { ...scope, reason: 'a leak' })).status).toBe(200);
    expect((await asked()).body).toMatchObject({ status: 409, code: 'signer_paused' });
    await node.post('/api/v1/go', scope);
    expect((await asked()).status).toBe(200);
  });
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

describe('a policy that is set by the API', () => {
  const path = `/api/v1/policies/${DEV_CHAIN}/${SIGNER}`;
  const none = { maxValue: null, maxFee: null, dailyFees: null };
  const flags = { contractCreation: false, blobs: false, authorizations: false, dryRun: false };
  const to = [{ address: RECEIVER.toLowerCase(), selectors: ['0x'] }];
  const config = {
    ...none,
    ...flags,
    to,
    maxValue: '60',
    dailyValue: '100',
    typedData: [`${TOKEN.toLowerCase()}/Permit`],
  };
  const set = (version: number, rules: object) => node.call('PUT', path, null, { version, rules });

  it('is not there at first, beside that of the config', async () => {
    const standing = { chainId: DEV_CHAIN, address: SIGNER.toLowerCase(), config, api: null, version: 0 };
    expect((await node.get(path)).body).toEqual({ ...standing, changedBy: null, changedAt: null });
    expect((await node.get('/api/v1/policies')).body).toMatchObject({ items: [standing], nextCursor: null });
    expect((await node.get(`${path}/versions`)).body).toEqual({ items: [], nextCursor: null });
  });

  it('is refused with the path of each mistake, and where there is no such signer', async () => {
    const mistakes = {
      to: [{ address: RECEIVER, selectors: ['0x12'] }, { address: 'nobody' }],
      maxValue: '1 ether',
      dryRun: 'yes',
      maxvalue: '1',
    };
    expect((await set(0, mistakes)).body).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [
        { path: 'rules.maxvalue' },
        { path: 'rules.to[0].selectors' },
        { path: 'rules.to[1].address' },
        { path: 'rules.maxValue' },
        { path: 'rules.dryRun' },
      ],
    });
    expect((await set(0, { to: [{ address: RECEIVER.replace('C', 'c') }] })).body).toMatchObject({
      code: 'invalid_checksum',
    });
    expect((await node.call('PUT', path, null, { rules: {} })).body).toMatchObject({ errors: [{ path: 'version' }] });
    const stranger = path.replace(SIGNER, STRANGER);
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect(
        (
          await node.call(
            method,
            method === 'DELETE' ? `${stranger}?version=0` : stranger,
            null,
            method === 'PUT' ? { version: 0, rules: {} } : undefined,
          )
        ).body,
      ).toMatchObject({ status: 404, code: 'unknown_signer' });
    expect((await node.get(path)).body).toMatchObject({ version: 0 });
  });

  it('refuses what that of the config allows, and allows nothing more; a simulation says so', async () => {
    const { status, body } = await set(0, { maxValue: '5' });
    const api = { ...none, ...flags, to: null, maxValue: '5', dailyValue: null };
    expect([status, body]).toMatchObject([200, { config, api, version: 1, changedBy: 'anyone' }]);
    expect((await node.post('/api/v1/tx', asking('api-a', '6'))).body).toMatchObject(refusedBy('maxValue'));
    const simulated = await node.post('/api/v1/tx/simulate', asking('api-b', '6'));
    expect(simulated.body).toMatchObject({
      policy: { verdict: 'refused', reason: expect.stringContaining('maxValue is 5 wei'), dryRun: false },
    });
    expect((await set(1, { maxValue: '1000' })).body).toMatchObject({ version: 2 });
    expect((await node.post('/api/v1/tx', asking('api-c', '61'))).body).toMatchObject(refusedBy('maxValue'));
    expect((await node.post('/api/v1/tx', asking('api-d', '6'))).status).toBe(202);
  });

  it('is changed by who has seen its last version, and only reports where it is said so', async () => {
    expect((await set(1, {})).body).toMatchObject({ status: 409, code: 'policy_changed', facts: { version: 2 } });
    expect((await set(2, { maxValue: '5', dryRun: true })).body).toMatchObject({ version: 3 });
    const simulated = await node.post('/api/v1/tx/simulate', asking('api-e', '6'));
    expect(simulated.body).toMatchObject({ policy: { verdict: 'refused', dryRun: true } });
    expect((await node.post('/api/v1/tx', asking('api-f', '6'))).status).toBe(202);
  });

  it('is withdrawn, and all its versions can be read', async () => {
    await set(3, { maxValue: '5' });
    expect((await node.call('DELETE', `${path}?version=3`, null)).body).toMatchObject({ code: 'policy_changed' });
    const withdrawn = await node.call('DELETE', `${path}?version=4`, null);
    expect([withdrawn.status, withdrawn.body]).toMatchObject([200, { config, api: null, version: 5 }]);
    expect((await node.post('/api/v1/tx', asking('api-g', '6'))).status).toBe(202);
    const first = (await node.get<{ items: object[]; nextCursor: string }>(`${path}/versions?limit=2`)).body;
    expect(first.items).toMatchObject([
      { version: 5, api: null },
      { version: 4, api: { maxValue: '5' } },
    ]);
    const rest = (await node.get(`${path}/versions?cursor=${first.nextCursor}`)).body;
    expect(rest).toMatchObject({ items: [{ version: 3 }, { version: 2 }, { version: 1 }], nextCursor: null });
  });
});

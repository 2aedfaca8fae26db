import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/errors.js';
import { Chains } from '../../../src/modules/chain/index.js';
import { AssertCallback } from '../../../src/modules/transactions/application/intake/assert-callback.js';
import { CreateTx, type CreatedTx } from '../../../src/modules/transactions/application/intake/create-tx.js';
import type { TxRequest } from '../../../src/modules/transactions/domain/tx-request.js';
import { TxBatchController } from '../../../src/modules/transactions/infrastructure/http/tx-batch.controller.js';
import { aCreatedTx, anAddress, DEV_CHAIN } from '../../support/builders.js';
import { type Answer, type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const URL = '/api/v1/tx/batch';

let http: HttpApp;
let asked: { requestId: string; chainId: number; together: unknown }[];
let refusals: Map<string, Error>;

async function create({ signer, requestId }: TxRequest, together: unknown): Promise<CreatedTx> {
  asked.push({ requestId, chainId: signer.chainId, together });
  const refusal = refusals.get(requestId);
  if (refusal) throw refusal;
  return aCreatedTx({ txId: `tx of ${requestId}`, signer, requestId });
}

beforeAll(async () => {
  const chains = { ids: () => [DEV_CHAIN], get: (chainId: number) => ({ chainId }) };
  http = await startHttpApp({
    controllers: [TxBatchController],
    providers: [
      { provide: Chains, useValue: chains },
      { provide: AssertCallback, useValue: { execute: async () => undefined } },
      { provide: CreateTx, useValue: { execute: create } },
    ],
  });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [asked, refusals] = [[], new Map()];
  http.lines.splice(0);
});

const item = (requestId: string) => ({ signer: anAddress(1), requestId, payload: { to: anAddress(2) } });

function post(items: readonly object[], headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(http.port, { method: 'POST', url: URL, payload: { items }, headers });
}

async function results(items: readonly object[]): Promise<{ index: number; status: number; problem?: object }[]> {
  const { status, text } = await post(items);
  expect(status).toBe(200);
  return JSON.parse(text).items;
}

describe('POST /api/v1/tx/batch', () => {
  it('creates its items in their order, and says of all that they belong together', async () => {
    expect(await results([item('a'), item('b')])).toMatchObject([
      { index: 0, status: 202, tx: { txId: 'tx of a', requestId: 'a' } },
      { index: 1, status: 202, tx: { txId: 'tx of b', requestId: 'b' } },
    ]);
    expect(asked).toMatchObject([
      { requestId: 'a', chainId: DEV_CHAIN },
      { requestId: 'b', chainId: DEV_CHAIN },
    ]);
    const [first, second] = asked.map(({ together }) => together);
    expect([typeof first, first === second]).toEqual(['symbol', true]);
    await results([item('c')]);
    expect(asked.at(-1)?.together).not.toBe(first);
  });

  it('answers each item by itself: a bad one spoils no other', async () => {
    refusals.set('b', new Unavailable('intake_full', 'too much is waiting', 'try again'));
    const items = [item('a'), { ...item('x'), stranger: 1 }, item('b'), { ...item('n'), allocate: 'now' }, item('c')];
    expect(await results(items)).toMatchObject([
      { index: 0, status: 202 },
      { index: 1, status: 400, problem: { code: 'unknown_field' } },
      { index: 2, status: 503, problem: { code: 'intake_full', instance: `${URL}#/items/2` } },
      { index: 3, status: 400, problem: { code: 'allocate_in_batch' } },
      { index: 4, status: 202 },
    ]);
    expect(asked.map(({ requestId }) => requestId)).toEqual(['a', 'b', 'c']);
  });

  it('refuses an Idempotency-Key, and stores nothing: it names one request, and a batch is many', async () => {
    const { status, text } = await post([item('a')], { 'Idempotency-Key': 'k' });
    expect([status, JSON.parse(text).code]).toEqual([400, 'idempotency_key_of_batch']);
    expect(asked).toEqual([]);
  });

  it('does not take the key of the header for an item without one', async () => {
    const { requestId: _, ...keyless } = item('a');
    expect(await results([keyless])).toMatchObject([{ status: 400, problem: { code: 'missing_request_id' } }]);
  });

  it('logs one line for each cause that is not the client’s, and none for what is', async () => {
    const away = new Unavailable('database_unavailable', 'no answer', 'try again');
    for (const id of ['a', 'b']) refusals.set(id, away);
    refusals.set('c', new TypeError('secret-internals'));
    await results([item('a'), item('b'), item('c'), { ...item('n'), allocate: 'now' }]);
    expect(http.lines.map(({ msg }) => msg).sort()).toEqual(['http.internal_error', 'http.unavailable']);
  });
});

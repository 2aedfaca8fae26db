import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/errors.js';
import { Chains } from '../../../src/modules/chain/index.js';
import { CreationLimits } from '../../../src/modules/requests/application/creation-limits.js';
import { StoredRequests } from '../../../src/modules/requests/application/stored-requests.js';
import { CreateTx, type CreatedTx } from '../../../src/modules/requests/application/create-tx.js';
import type { TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { TxBatchController } from '../../../src/modules/requests/infrastructure/http/tx-batch.controller.js';
import { aCreatedTx, anAddress, DEV_CHAIN } from '../../support/builders.js';
import { type Answer, type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const URL = '/api/v1/tx/batch';

let http: HttpApp;
let asked: { requestId: string; chainId: number; together: unknown }[];
let refusals: Map<string, Error>;
let prepared: number;

async function prepare(tx: object): Promise<object> {
  prepared += 1;
  return tx;
}

async function store(
  { signer, requestId }: Pick<TxRequest, 'signer' | 'requestId'>,
  together: unknown,
): Promise<CreatedTx> {
  asked.push({ requestId, chainId: signer.chainId, together });
  const refusal = refusals.get(requestId);
  if (refusal) throw refusal;
  return aCreatedTx({ txId: `tx of ${requestId}`, signer, requestId });
}

beforeAll(async () => {
  const chains = { ids: () => [DEV_CHAIN], get: (chainId: number) => ({ chainId }) };
  const providers = [
    { provide: Chains, useValue: chains },
    { provide: CreationLimits, useValue: { admit: async () => undefined } },
    { provide: StoredRequests, useValue: { lookUp: () => async () => false } },
    { provide: CreateTx, useValue: { prepare, store } },
  ];
  http = await startHttpApp({ controllers: [TxBatchController], providers }, 65_536);
});
afterAll(() => http.app.close());
beforeEach(() => {
  [asked, refusals, prepared] = [[], new Map(), 0];
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

  it('is prepared in turns of the event loop, at most 32 items in each, and stored in one go', async () => {
    const seen: [number, number][] = [];
    let over = false;
    const watch = (): void => {
      seen.push([prepared, asked.length]);
      if (!over) setImmediate(watch);
    };
    watch();
    await results(Array.from({ length: 100 }, (_, i) => item(`${i}`)));
    over = true;
    const steps = seen.slice(1).map(([count], i) => count - (seen[i]?.[0] ?? 0));
    expect(Math.max(...steps)).toBe(32);
    expect(new Set(seen.map(([, stored]) => stored))).toEqual(new Set([0, 100]));
  });

  it('tells fifty mistakes for all items together, also of texts that cannot be stored', async () => {
    const bad = [
      ...new Array<object>(40).fill({ ...item('x'), stranger: 1 }),
      ...new Array<object>(40).fill(item('\0')),
    ];
    const answers = (await results([...bad, item('a')])) as { status: number; problem?: Record<string, unknown> }[];
    expect(answers.map(({ status }) => status)).toEqual([...new Array<number>(80).fill(400), 202]);
    expect(answers.flatMap(({ problem }) => problem?.['errors'] ?? [])).toHaveLength(50);
    expect(answers[79]?.problem).toMatchObject({
      code: 'invalid_request',
      detail: 'the request has a mistake that is not told: 50 are told before it',
      errors: [],
    });
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

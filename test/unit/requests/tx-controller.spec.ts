import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { type HistoryEntry, TxHistory } from '../../../src/modules/events/index.js';
import { Chains } from '../../../src/modules/chain/index.js';
import { CreateNow, type CreateNowResult } from '../../../src/modules/requests/application/create-now.js';
import { CreationLimits } from '../../../src/modules/requests/application/creation-limits.js';
import { StoredRequests } from '../../../src/modules/requests/application/stored-requests.js';
import { CreateTx, type CreatedTx } from '../../../src/modules/requests/application/create-tx.js';
import { ProveBlobs } from '../../../src/modules/requests/application/prove-blobs.js';
import { TxQueries } from '../../../src/modules/ledger/application/views/tx-views.js';
import { WaitForState } from '../../../src/modules/requests/application/wait-for-state.js';
import { TxController } from '../../../src/modules/requests/infrastructure/http/tx.controller.js';
import { aCreatedTx, aHash, anAddress, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type HttpApp, type Sent, send, startHttpApp } from '../platform/http-app.js';

const TX_ID = aCreatedTx().txId;
const OTHER_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8c';
const OTHER_CHAIN = DEV_CHAIN + 1;
const STORED = aCreatedTx();
const VIEW = { txId: TX_ID, state: 'PENDING' };
const BODY = { chainId: DEV_CHAIN, signer: anAddress(1), requestId: 'r-1', payload: { to: anAddress(2) } };

const isRepeated = async () => false;

let http: HttpApp;
let chainIds: number[];
/** Every call behind the controller, in order. */
let calls: unknown[][];
/** Bodies of which it was asked whether another node has signed them. */
let stored: CreatedTx;
let now: CreateNowResult;
let page: { items: object[]; nextBefore: string | null };
let entries: HistoryEntry[];
let inDatabase: Set<string>;
/** Ends a wait before its time. */
let leaveWait: () => void;

function told<T>(name: string, answer: () => T): (...args: unknown[]) => Promise<T> {
  return async (...args) => {
    calls.push([name, ...args]);
    return answer();
  };
}

beforeAll(async () => {
  const providers = [
    {
      provide: Chains,
      useValue: {
        ids: () => chainIds,
        get: (chainId: number) => ({ chainId }),
      },
    },
    { provide: ProveBlobs, useValue: { execute: async (asked: unknown) => asked } },
    { provide: CreationLimits, useValue: { admit: async () => undefined } },
    { provide: StoredRequests, useValue: { lookUp: () => isRepeated } },
    { provide: CreateTx, useValue: { execute: told('create', () => stored) } },
    { provide: CreateNow, useValue: { execute: told('create now', () => now) } },
    {
      provide: TxQueries,
      useValue: {
        find: async (id: string) => (calls.push(['find', id]), inDatabase.has(id) ? VIEW : null),
        findByRequest: told('by request', () => (inDatabase.size > 0 ? VIEW : null)),
        list: told('list', () => page),
        attempts: told('attempts', () => [{ txHash: aHash(1) }]),
      },
    },
    {
      provide: TxHistory,
      useValue: {
        of: async (id: string, { after, limit }: { after: string; limit: number }) => {
          calls.push(['history', id, { after, limit }]);
          return entries.slice(0, limit);
        },
      },
    },
    { provide: WaitForState, useValue: { execute: told('wait', () => leaveWait()) } },
  ];
  http = await startHttpApp({ controllers: [TxController], providers });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [chainIds, calls, stored, entries] = [[DEV_CHAIN], [], STORED, []];
  [page, inDatabase] = [{ items: [], nextBefore: null }, new Set([TX_ID])];
  leaveWait = () => undefined;
});

async function answerTo(sent: Sent): Promise<{ status: number; body: Record<string, unknown> }> {
  const { status, text } = await send(http.port, { url: '/api/v1/tx', ...sent });
  return { status, body: JSON.parse(text) };
}

const get = (rest: string) => answerTo({ url: `/api/v1/tx${rest}` });
const post = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  answerTo({ method: 'POST', payload: body, headers });

describe('POST /api/v1/tx', () => {
  const { signer, isNew: _new, isPaused: _paused, ...rest } = STORED;
  const view = { ...rest, chainId: signer.chainId, signer: signer.address };

  it('answers 202 to what is new, and 200 to what had been stored', async () => {
    expect(await post(BODY)).toEqual({ status: 202, body: view });
    stored = { ...STORED, isNew: false, state: 'IN_MEMPOOL', nonce: 7n, txHash: aHash(1) };
    const known = { ...view, state: 'IN_MEMPOOL', nonce: 7, txHash: aHash(1) };
    expect(await post(BODY)).toEqual({ status: 200, body: known });
    expect(calls).toMatchObject(
      [0, 1].map(() => ['create', { signer: aSigner(), sender: ANYONE, requestId: 'r-1' }, isRepeated]),
    );
  });

  it('takes its key from the Idempotency-Key header, too', async () => {
    const { requestId: _key, ...keyless } = BODY;
    expect(await post(keyless, { 'Idempotency-Key': 'in-header' })).toMatchObject({ status: 202 });
    expect(calls).toMatchObject([['create', { requestId: 'in-header' }, isRepeated]]);
    expect(await post(BODY, { 'Idempotency-Key': 'other' })).toMatchObject({ status: 400 });
    expect(await post(keyless)).toMatchObject({ status: 400, body: { code: 'missing_request_id' } });
  });

  it('needs a chain id only where there is a choice', async () => {
    const { chainId: _id, ...chainless } = BODY;
    expect(await post(chainless)).toMatchObject({ status: 202 });
    chainIds = [DEV_CHAIN, OTHER_CHAIN];
    expect(await post(chainless)).toMatchObject({
      status: 400,
      body: { code: 'missing_chain_id', facts: { chainIds } },
    });
    expect(await post({ ...BODY, chainId: OTHER_CHAIN })).toMatchObject({ status: 202 });
    expect(calls).toMatchObject(
      [DEV_CHAIN, OTHER_CHAIN].map((chainId) => ['create', { signer: { chainId } }, isRepeated]),
    );
  });

  it('waits for the nonce with allocate "now" alone', async () => {
    now = { kind: 'created', tx: STORED, view: null };
    await post({ ...BODY, allocate: 'later' });
    await post({ ...BODY, allocate: 'now' });
    expect(calls.map(([name]) => name)).toEqual(['create', 'create now']);
  });
});

describe('POST /api/v1/tx with allocate "now"', () => {
  const NOW = { ...BODY, allocate: 'now' };

  it('says what became of the tx while it waited, or what was stored when that is not known', async () => {
    now = { kind: 'created', tx: STORED, view: { state: 'ALLOCATED', nonce: 7, txHash: aHash(1) } as never };
    const accepted = await post(NOW);
    expect(accepted).toMatchObject({ status: 202, body: { state: 'ALLOCATED', nonce: 7, txHash: aHash(1) } });
    now = { kind: 'created', tx: { ...STORED, isNew: false }, view: null };
    expect(await post(NOW)).toMatchObject({ status: 200, body: { state: 'PENDING', nonce: null, txHash: null } });
    now = { kind: 'created', tx: STORED, view: { state: 'PENDING', nonce: null, txHash: null } as never };
    expect(await post(NOW)).toMatchObject({ status: 202, body: { nonce: null, txHash: null } });
  });

  it('passes on the whole body, with the path and whether it came from another node', async () => {
    now = { kind: 'created', tx: STORED, view: null };
    const { chainId: _id, ...chainless } = { ...NOW, priority: 3 };
    await post(chainless);
    await post(chainless, { 'x-lockstep-forwarded-by': 'node-2' });
    const body = { ...NOW, priority: 3 };
    const request = expect.objectContaining({ requestId: 'r-1', priority: 3 });
    expect(calls).toEqual([
      ['create now', request, isRepeated, { path: '/api/v1/tx', body, caller: ANYONE, wasForwarded: false }],
      ['create now', request, isRepeated, { path: '/api/v1/tx', body, caller: ANYONE, wasForwarded: true }],
    ]);
  });

  it('passes on the key and the chain in the body, also when the client sent neither there', async () => {
    now = { kind: 'created', tx: STORED, view: null };
    const { chainId: _chain, requestId: _key, ...bare } = NOW;
    await post(bare, { 'idempotency-key': 'invoice-4711' });
    const whole = { ...bare, chainId: DEV_CHAIN, requestId: 'invoice-4711' };
    expect(calls).toEqual([
      [
        'create now',
        expect.anything(),
        isRepeated,
        { path: '/api/v1/tx', body: whole, caller: ANYONE, wasForwarded: false },
      ],
    ]);
  });

  it('answers as the owner did: status, type, when to come back, and body', async () => {
    const contentType = 'application/problem+json; charset=utf-8';
    const answered = { 'content-type': contentType, 'retry-after': '3' };
    now = { kind: 'forwarded', answer: { status: 409, headers: answered, body: '{"code":"idempotency_conflict"}' } };
    const { status, headers, text } = await send(http.port, { method: 'POST', url: '/api/v1/tx', payload: NOW });
    expect([status, text]).toEqual([409, '{"code":"idempotency_conflict"}']);
    expect(headers).toMatchObject(answered);
  });
});

describe('GET /api/v1/tx', () => {
  it('asks for fifty when no filter is given', async () => {
    page = { items: [VIEW], nextBefore: null };
    expect(await get('')).toEqual({ status: 200, body: { items: [VIEW], nextCursor: null } });
    expect(calls).toEqual([['list', { limit: 50, kind: 'payload' }, ANYONE]]);
  });

  it('hands on each filter in its own place', async () => {
    await get(`?chainId=${OTHER_CHAIN}&signer=0x${'AB'.repeat(20)}&state=MINED&kind=fill&limit=7`);
    const signer = `0x${'ab'.repeat(20)}`;
    expect(calls).toEqual([['list', { limit: 7, kind: 'fill', chainId: OTHER_CHAIN, signer, state: 'MINED' }, ANYONE]]);
  });

  it('goes on before what its cursor names', async () => {
    page = { items: [VIEW], nextBefore: TX_ID };
    const { nextCursor } = (await get('')).body;
    await get(`?cursor=${String(nextCursor)}`);
    expect(calls.at(-1)).toEqual(['list', { limit: 50, kind: 'payload', before: TX_ID }, ANYONE]);
  });

  it('lists the fills of Lockstep only to who asks for them', async () => {
    for (const query of ['', '?kind=payload', '?kind=fill']) await get(query);
    const kinds = ['payload', 'payload', 'fill'];
    expect(calls).toEqual(kinds.map((kind) => ['list', { limit: 50, kind }, ANYONE]));
  });

  const paging = ['cursor=AAAA', 'cursor=', 'limit=0', 'limit=201', 'limit=x'];
  const filters = ['chainId=0', 'signer=1', 'state=NEW', 'kind=cancel', 'kind='];
  it.each([...paging, ...filters])('refuses ?%s', async (query) => {
    expect((await get(`?${query}`)).status).toBe(400);
    expect(calls).toEqual([]);
  });

  it('gives pages of one to two hundred', async () => {
    for (const limit of [1, 200]) expect((await get(`?limit=${limit}`)).status).toBe(200);
  });
});

describe('GET /api/v1/tx/by-request', () => {
  it('looks for the key of the signer on the chain', async () => {
    const query = `?signer=0x${'AB'.repeat(20)}&requestId=r%201`;
    expect(await get(`/by-request${query}&chainId=${OTHER_CHAIN}`)).toEqual({ status: 200, body: VIEW });
    await get(`/by-request${query}`);
    const signer = `0x${'ab'.repeat(20)}`;
    expect(calls).toEqual(
      [OTHER_CHAIN, DEV_CHAIN].map((chainId) => ['by request', { chainId, address: signer }, 'r 1', ANYONE]),
    );
  });

  it('answers 404 to a key that was not used, and 400 without signer or key', async () => {
    inDatabase.clear();
    const unknown = await get(`/by-request?signer=${anAddress(1)}&requestId=r`);
    expect(unknown).toMatchObject({ status: 404, body: { code: 'tx_not_found' } });
    for (const query of ['?requestId=r', `?signer=${anAddress(1)}`])
      expect((await get(`/by-request${query}`)).status).toBe(400);
    const refused = {
      '': 'invalid_request_id',
      ['k'.repeat(201)]: 'invalid_request_id',
      '%0A': 'invalid_request_id',
      '%00': 'invalid_text',
    };
    for (const [key, code] of Object.entries(refused))
      expect(await get(`/by-request?signer=${anAddress(1)}&requestId=${key}`)).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'requestId', code }] },
      });
  });
});

describe('GET /api/v1/tx/{txId}', () => {
  it('answers at once without waitFor', async () => {
    expect(await get(`/${TX_ID}`)).toEqual({ status: 200, body: VIEW });
    expect(calls).toEqual([['find', TX_ID]]);
  });

  it('waits for the state that was asked for, and then looks again', async () => {
    expect((await get(`/${TX_ID}?waitFor=MINED&timeoutMs=60000`)).status).toBe(200);
    expect(calls).toEqual([
      ['find', TX_ID],
      ['wait', TX_ID, 'MINED', 60_000, expect.any(AbortSignal)],
      ['find', TX_ID],
    ]);
    await get(`/${TX_ID}?waitFor=CONFIRMED`);
    expect(calls.at(-2)).toEqual(['wait', TX_ID, 'CONFIRMED', 30_000, expect.any(AbortSignal)]);
    await get(`/${TX_ID}?waitFor=CONFIRMED&timeoutMs=0`);
    expect(calls.at(-2)).toEqual(['wait', TX_ID, 'CONFIRMED', 0, expect.any(AbortSignal)]);
  });

  it('does not wait for a tx that does not exist', async () => {
    const answer = await get(`/${OTHER_ID}?waitFor=MINED`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'tx_not_found' } });
    expect(calls).toEqual([['find', OTHER_ID]]);
  });

  it('asks the database for nothing that is not an id', async () => {
    for (const id of ['1', `${TX_ID}0`, `x${TX_ID}`]) expect((await get(`/${id}`)).status).toBe(404);
    expect(calls).toEqual([]);
    inDatabase.add(TX_ID.toUpperCase());
    expect((await get(`/${TX_ID.toUpperCase()}`)).status).toBe(200);
  });

  it.each(['timeoutMs=60001', 'timeoutMs=-1', 'waitFor=DONE'])('refuses ?%s', async (query) => {
    expect((await get(`/${TX_ID}?${query}`)).status).toBe(400);
  });
});

describe('GET /api/v1/tx/{txId}/history', () => {
  const seqs = (...all: number[]): HistoryEntry[] => all.map((seq) => ({ seq: String(seq) }) as HistoryEntry);

  it('begins at the beginning, with a thousand entries at most', async () => {
    entries = seqs(1, 2);
    expect(await get(`/${TX_ID}/history`)).toEqual({ status: 200, body: { items: entries, nextCursor: null } });
    expect(calls).toEqual([
      ['find', TX_ID],
      ['history', TX_ID, { after: '0', limit: 1_001 }],
    ]);
  });

  it('names a next page only when there is more, and it goes on after the last entry', async () => {
    entries = seqs(11, 12);
    expect((await get(`/${TX_ID}/history?limit=2`)).body).toEqual({ items: entries, nextCursor: null });
    const { items, nextCursor } = (await get(`/${TX_ID}/history?limit=1`)).body;
    expect(items).toEqual(seqs(11));
    await get(`/${TX_ID}/history?limit=1&cursor=${String(nextCursor)}`);
    expect(calls.at(-1)).toEqual(['history', TX_ID, { after: '11', limit: 2 }]);
  });

  it('refuses a cursor that is none, and answers 404 for an unknown tx', async () => {
    const bad = Buffer.from('12; --').toString('base64url');
    expect(await get(`/${TX_ID}/history?cursor=${bad}`)).toMatchObject({ body: { code: 'invalid_cursor' } });
    for (const limit of [0, 1_001]) expect((await get(`/${TX_ID}/history?limit=${limit}`)).status).toBe(400);
    expect((await get(`/${OTHER_ID}/history`)).status).toBe(404);
  });
});

describe('GET /api/v1/tx/{txId}/attempts', () => {
  it('lists the attempts of that tx, or answers 404', async () => {
    const body = { items: [{ txHash: aHash(1) }], nextCursor: null };
    expect(await get(`/${TX_ID}/attempts`)).toEqual({ status: 200, body });
    expect(calls.at(-1)).toEqual(['attempts', TX_ID]);
    expect((await get(`/${OTHER_ID}/attempts`)).status).toBe(404);
  });
});

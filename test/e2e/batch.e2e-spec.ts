import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import type { TxBatchItemView } from '../../src/modules/requests/infrastructure/http/tx-batch.items.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { expectEachOnce } from '../support/chain-witness.js';
import { ClusterDatabase } from '../support/cluster-database.js';
import { type HttpAnswer, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const [ALICE, TO] = DEV_ACCOUNTS;
/** Each of the big tests has its own, so that its nonces start at 0. */
const CROWD = DEV_ACCOUNTS.slice(3, 7);

type Item = Readonly<Record<string, unknown>>;
type BatchBody = { readonly items: readonly TxBatchItemView[] };

let anvil: RunningAnvil;
let testDatabase: TestDatabase;
let database: ClusterDatabase;
let service: Service;

beforeAll(async () => {
  [anvil, testDatabase] = await Promise.all([startAnvil({ blockTime: 0.3 }), createTestDatabase()]);
  database = new ClusterDatabase(testDatabase.url);
  service = await start({});
});

afterAll(async () => {
  await service.stop();
  await anvil.stop();
  await database.close();
  await testDatabase.drop();
});

function start(config: Record<string, unknown>): Promise<Service> {
  return Service.start({
    databaseUrl: testDatabase.url,
    rpcUrl: anvil.url,
    config: { execution: { inFlightStart: 1000 }, ...config },
  });
}

function send(items: unknown, to = service): Promise<HttpAnswer<BatchBody>> {
  return to.post<BatchBody>('/api/v1/tx/batch', { items });
}

function transfer(requestId: string, more: Item = {}): Item {
  return { signer: ALICE, requestId, payload: { to: TO, value: '1' }, ...more };
}

function txIdsOf({ body }: HttpAnswer<BatchBody>): (string | null)[] {
  return body.items.map((item) => ('tx' in item ? item.tx.txId : null));
}

function statusesOf({ body }: HttpAnswer<BatchBody>): number[] {
  return body.items.map(({ status }) => status);
}

async function stored(prefix: string): Promise<number> {
  return Object.values(await database.countByState(prefix)).reduce((sum, count) => sum + count, 0);
}

describe('each item of a batch', () => {
  const good = transfer('bad-item');
  const bad: [string, unknown, number, string][] = [
    ['an unknown signer', { ...good, signer: `0x${'9'.repeat(40)}` }, 422, 'unknown_signer'],
    ['a chain that is not configured', { ...good, chainId: 1 }, 422, 'unknown_chain'],
    ['a bad address', { ...good, payload: { to: '0x1234' } }, 400, 'invalid_request'],
    [
      'a value above 256 bits',
      { ...good, payload: { to: TO, value: (1n << 256n).toString() } },
      400,
      'invalid_request',
    ],
    ['an unknown field', { ...good, vlaue: 1 }, 400, 'unknown_field'],
    ['no requestId', { ...good, requestId: undefined }, 400, 'missing_request_id'],
    ['a requestId that is no text', { ...good, requestId: 'a\u0000b' }, 400, 'invalid_request'],
    ['neither receiver nor init code', { ...good, payload: {} }, 400, 'invalid_payload'],
    ['a fee above 2^128', { ...good, fees: { maxFeePerGas: `1${'0'.repeat(39)}` } }, 400, 'invalid_fees'],
    ['metadata that cannot be stored', { ...good, metadata: { note: '\u0000' } }, 400, 'invalid_request'],
    ['metadata that is too long', { ...good, metadata: { note: 'x'.repeat(16_384) } }, 422, 'metadata_too_large'],
    ['null', null, 400, 'invalid_request'],
    ['a text', 'transfer', 400, 'invalid_request'],
    ['a list', [good], 400, 'invalid_request'],
  ];

  it('gets the answer that POST /tx gives to it alone, whatever its neighbours get', async () => {
    const items = bad.flatMap(([, item], n) => [item, transfer(`neighbour-${n}`)]);
    const batch = await send(items);
    expect(batch.status).toBe(200);
    expect(batch.body.items.map(({ index }) => index)).toEqual(items.map((_, index) => index));
    for (const [n, [name, item, status, code]] of bad.entries()) {
      const alone = await service.post('/api/v1/tx', JSON.stringify(item));
      const instance = `/api/v1/tx/batch#/items/${2 * n}`;
      expect({ name, alone }).toMatchObject({ name, alone: { status, body: { code } } });
      expect(batch.body.items[2 * n]).toEqual({ index: 2 * n, status, problem: { ...alone.body, instance } });
      const neighbour = await service.post('/api/v1/tx', transfer(`neighbour-${n}`));
      expect(batch.body.items[2 * n + 1]).toMatchObject({ status: 202, tx: { state: 'PENDING', nonce: null } });
      expect(txIdsOf(batch)[2 * n + 1]).toBe(neighbour.body['txId']);
      expect(neighbour.status).toBe(200);
    }
    expect(await stored('bad-item')).toBe(0);
  });

  it('that is nested without end is refused, and no other', async () => {
    const deep = `{"signer":"${ALICE}","requestId":"deep","payload":{"to":"${TO}"},"metadata":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}}`;
    const answer = await service.post<BatchBody>(
      '/api/v1/tx/batch',
      `{"items":[${deep},${JSON.stringify(transfer('beside-deep'))}]}`,
    );
    expect(answer.body.items).toMatchObject([
      { status: 400, problem: { code: 'nested_too_deeply' } },
      { status: 202, tx: { requestId: 'beside-deep' } },
    ]);
  });

  it('cannot wait for its nonce', async () => {
    const answer = await send([transfer('now', { allocate: 'now' }), transfer('later', { allocate: 'later' })]);
    expect(answer.body.items).toMatchObject([{ status: 400, problem: { code: 'allocate_in_batch' } }, { status: 202 }]);
    expect(await stored('now')).toBe(0);
  });
});

describe('a requestId that is twice in a batch', () => {
  it('is one transaction when the bodies are the same, however they are spelled', async () => {
    const again = transfer('twin', { signer: ALICE.toLowerCase(), payload: { to: TO.toLowerCase(), value: '0x1' } });
    const answer = await send([transfer('twin'), again]);
    expect(statusesOf(answer)).toEqual([202, 200]);
    expect(new Set(txIdsOf(answer)).size).toBe(1);
  });

  it('is the first one when the bodies differ, and the others are conflicts', async () => {
    const rivals = [1, 2, 3].map((value) => transfer('rival', { payload: { to: TO, value: String(value) } }));
    const answer = await send(rivals);
    expect(answer.body.items).toMatchObject([
      { status: 202 },
      { status: 409, problem: { code: 'idempotency_conflict', facts: { txId: txIdsOf(answer)[0] } } },
      { status: 409, problem: { code: 'idempotency_conflict' } },
    ]);
    expect((await service.get(`/api/v1/tx/${String(txIdsOf(answer)[0])}`)).body).toMatchObject({
      payload: { value: '1' },
    });
  });
});

describe('a whole batch', () => {
  it('of 1,000 on several signers is stored by one statement, and every payload is on chain once, in the order given', async () => {
    const items = Array.from({ length: 1_000 }, (_, n) => {
      const signer = CROWD[n % CROWD.length];
      return { signer, requestId: `thousand-${n}`, payload: { to: TO, data: dataOf(n) } };
    });
    const answer = await send(items);
    expect(new Set(statusesOf(answer))).toEqual(new Set([202]));
    const [statements] = await database.query<{ count: string }>(
      `SELECT count(DISTINCT xid) FROM tx_event WHERE reason = 'queued' AND tx_id = ANY ($1)`,
      [txIdsOf(answer)],
    );
    expect(statements?.count).toBe('1');
    await until(
      'all of them are confirmed',
      async () => (await database.countByState('thousand-'))['CONFIRMED'] === 1_000,
    );
    const payloads = CROWD.map((signer): [string, string[]] => [
      signer.toLowerCase(),
      items.filter((item) => item.signer === signer).map(({ payload }) => payload.data),
    ]);
    await expectEachOnce(anvil.url, new Map(payloads));
    const rows = await database.query<{ ordered: boolean }>(
      `SELECT bool_and(nonce = place) AS ordered FROM (
         SELECT nonce, row_number() OVER (PARTITION BY signer ORDER BY array_position($1::uuid[], tx_id)) - 1 AS place
           FROM managed_tx WHERE starts_with(request_id, 'thousand-')) AS placed`,
      [txIdsOf(answer)],
    );
    expect(rows).toEqual([{ ordered: true }]);
  });

  it('may be repeated: the same transactions answer, and nothing is stored again', async () => {
    const items = Array.from({ length: 600 }, (_, n) => transfer(`repeat-${n}`));
    const first = await send(items);
    const second = await send(items);
    expect(new Set(statusesOf(second))).toEqual(new Set([200]));
    expect(txIdsOf(second)).toEqual(txIdsOf(first));
    expect(await stored('repeat-')).toBe(600);
  });

  it('that arrives many times at once is stored once', async () => {
    const items = Array.from({ length: 300 }, (_, n) => transfer(`crowd-${n}`));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(n % 2 === 0 ? items : [...items].reverse())),
    );
    const ids = answers.map((answer, n) => (n % 2 === 0 ? txIdsOf(answer) : txIdsOf(answer).reverse()));
    for (const theirs of ids) expect(theirs).toEqual(ids[0]);
    expect(answers.flatMap(statusesOf).filter((status) => status === 202)).toHaveLength(300);
    expect(await stored('crowd-')).toBe(300);
  });
});

describe('a batch that is wrong as a whole', () => {
  const one = transfer('whole');
  const cases: [string, unknown, number, string][] = [
    ['without items', {}, 400, 'invalid_request'],
    ['whose items are no list', { items: one }, 400, 'invalid_request'],
    ['that is a bare list', [one], 400, 'invalid_request'],
    ['with a field that is not known', { items: [one], atomic: true }, 400, 'unknown_field'],
    ['with nothing in it', { items: [] }, 400, 'empty_batch'],
    ['of 1,001', { items: Array.from({ length: 1_001 }, () => one) }, 400, 'batch_too_large'],
    ['that is no JSON', '{"items": [', 400, 'malformed_json'],
    [
      'of more bytes than a body may have',
      { items: [transfer('whole', { metadata: { text: 'x'.repeat(1024 * 1024) } })] },
      413,
      'body_too_large',
    ],
  ];

  it.each(cases)('%s gets a problem, and nothing is stored', async (_name, body, status, code) => {
    const answer = await service.post('/api/v1/tx/batch', body);
    expect(answer).toMatchObject({
      status,
      type: expect.stringContaining('application/problem+json'),
      body: { code, status, retryable: false, advice: expect.any(String) },
    });
    expect(await stored('whole')).toBe(0);
  });

  it('says how many are too many', async () => {
    const { body } = await service.post('/api/v1/tx/batch', { items: new Array(2500).fill(one) });
    expect(body).toMatchObject({ detail: expect.stringContaining('2500'), facts: { items: 2500, maxItems: 1000 } });
  });

  it('because one key is to stand for many gets a problem', async () => {
    const answer = await service.post('/api/v1/tx/batch', { items: [one] }, { 'idempotency-key': 'whole' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'idempotency_key_of_batch' } });
    expect(await stored('whole')).toBe(0);
  });
});

describe('the room for a batch', () => {
  it('is enough for 1,000 calls with everything that a create may say', async () => {
    const full = (n: number): Item => ({
      chainId: 31337,
      signer: ALICE,
      requestId: `full-${String(n).padStart(60, '0')}`,
      payload: { to: TO, value: '1000000000000000000', data: `0x${'ab'.repeat(4 + 5 * 32)}`, gasLimit: '120000' },
      fees: { maxFeePerGas: '30000000000', maxPriorityFeePerGas: '1000000000' },
      speed: 'fast',
      priority: 1,
      confirmations: 10_000,
      expiresAt: '2100-01-01T00:00:00.000Z',
      metadata: { order: '4711', customer: 'c'.repeat(36) },
    });
    const answer = await send(Array.from({ length: 1_000 }, (_, n) => full(n)));
    expect(new Set(statusesOf(answer))).toEqual(new Set([202]));
  });

  it('is not on a node that only acts for signers, nor on one whose queue is full', async () => {
    const [worker, full] = await Promise.all([
      start({ node: { role: 'worker' } }),
      start({ node: { role: 'api' }, intake: { maxQueued: 10 } }),
    ]);
    try {
      expect(await send([transfer('worker')], worker)).toMatchObject({
        status: 404,
        body: { code: 'route_not_found' },
      });
      const items = Array.from({ length: 30 }, (_, n) => transfer(`queue-${n}`));
      const answer = await send(items, full);
      expect(statusesOf(answer)).toEqual(items.map((_, n) => (n < 10 ? 202 : 503)));
      expect(answer.body.items[29]).toMatchObject({ problem: { code: 'intake_full', retryable: true } });
      // What was refused may be sent again, by itself or with the rest, here or to another node.
      expect(statusesOf(await send(items.slice(10), full)).slice(0, 10)).toEqual(new Array(10).fill(202));
      expect(statusesOf(await send(items))).toEqual(items.map((_, n) => (n < 20 ? 200 : 202)));
    } finally {
      await Promise.all([worker.stop(), full.stop()]);
    }
  });
});

function dataOf(n: number): string {
  return `0x${Buffer.from('batch').toString('hex')}${n.toString(16).padStart(8, '0')}`;
}

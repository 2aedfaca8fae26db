import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../src/dev/dev-accounts.js';
import type { HistoryEntry } from '../../src/modules/events/index.js';
import type { SignerView } from '../../src/modules/ops/application/signer-overview.js';
import type { TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { type RunningAnvil, startAnvil } from '../support/anvil.js';
import { countByInput, readChain } from '../support/chain-reader.js';
import { Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type Page } from '../../src/platform/http/page-cursor.js';

const ALICE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const BOB = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const CAROL = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const DAVE = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
/** One letter has another case than in their checksums. */
const ALICE_TYPED = ALICE.replace('Fd6e', 'fd6e');
const CAROL_TYPED = CAROL.replace('0x3C', '0x3c');
/** Init code of a contract that answers every call with `Error("no luck")`: it copies its own tail and reverts with it. */
const ERROR_DATA = `08c379a0${'20'.padStart(64, '0')}${'07'.padStart(64, '0')}${Buffer.from('no luck').toString('hex').padEnd(64, '0')}`;
const ALWAYS_REVERTS = `0x6070600c60003960706000f36064600c60003960646000fd${ERROR_DATA}`;

interface WithExamples {
  readonly content?: Readonly<Record<string, { readonly examples?: unknown }>>;
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly requestBody?: WithExamples; readonly responses: Readonly<Record<string, WithExamples>> }
        >
      >
    >
  >;
}

let anvil: RunningAnvil;
let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  [anvil, database] = await Promise.all([startAnvil({ blockTime: 0.3 }), createTestDatabase()]);
  service = await start();
});

afterAll(async () => {
  await service.stop();
  await anvil.stop();
  await database.drop();
});

function start(): Promise<Service> {
  return Service.start({
    databaseUrl: database.url,
    rpcUrl: anvil.url,
    config: { confirmations: { required: 2 }, execution: { inFlightStart: 1000 } },
  });
}

function transfer(signer: string, requestId: string, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { signer, requestId, payload: { to: CAROL, value: '1' }, ...overrides };
}

/** A payload that is on chain once, or the test fails. */
function marked(signer: string, mark: string, n: number): Record<string, unknown> {
  return transfer(signer, `${mark}-${n}`, { payload: { to: CAROL, data: markOf(mark, n) } });
}

function markOf(mark: string, n: number): string {
  return `0x${Buffer.from(mark).toString('hex')}${n.toString(16).padStart(8, '0')}`;
}

async function confirmed(txId: unknown): Promise<Record<string, unknown>> {
  const { body } = await service.get(`/api/v1/tx/${String(txId)}?waitFor=CONFIRMED&timeoutMs=30000`);
  return body;
}

async function stored(): Promise<number> {
  const { body } = await service.get<Page<unknown>>('/api/v1/tx?limit=200');
  return body.items.length;
}

it('a simulation tells gas, fees and the reason of a revert, and stores nothing', async () => {
  const before = await stored();
  const simulated = await service.post('/api/v1/tx/simulate', { signer: ALICE, payload: { to: CAROL, value: '1' } });
  expect(simulated).toMatchObject({
    status: 200,
    body: {
      outcome: 'succeeds',
      reason: null,
      gas: expect.stringMatching(/^2100[01]$/),
      fees: { maxFeePerBlobGas: null },
      feesRefusal: null,
    },
  });
  const { gasLimit, fees, cost } = simulated.body as { gasLimit: string; cost: string; fees: { maxFeePerGas: string } };
  expect(BigInt(cost)).toBe(1n + BigInt(gasLimit) * BigInt(fees.maxFeePerGas));
  const reverting = { signer: ALICE, payload: { data: '0x60006000fd' } };
  expect(await service.post('/api/v1/tx/simulate', reverting)).toMatchObject({
    status: 200,
    body: { outcome: 'reverts', reason: expect.any(String), gas: null, gasLimit: null, fees: null, cost: null },
  });
  const poor = { signer: ALICE, payload: { to: CAROL, value: (10n ** 30n).toString() } };
  expect(await service.post('/api/v1/tx/simulate', poor)).toMatchObject({ body: { outcome: 'insufficient_funds' } });
  expect(await service.post('/api/v1/tx/simulate', { ...poor, signer: CAROL, chainId: 7 })).toMatchObject({
    status: 422,
  });
  expect(await stored()).toBe(before);
});

it('a flood of simulations with blobs, for which a key need not be able to send, keeps nobody from sending blobs', async () => {
  const body = {
    signer: `0x${'12'.repeat(20)}`,
    requestId: 'blobs',
    payload: { to: CAROL, blobs: [`0x${'00'.repeat(131_072)}`] },
  };
  const busy: unknown[] = [];
  const flood = Array.from({ length: 20 }, async () => {
    const { status, body: answer } = await service.post('/api/v1/tx/simulate', body);
    if (status === 503) busy.push(answer['code']);
  });
  await until('the places for simulations are taken', async () => busy.length > 0);
  // Its signer is unknown, which is looked at after the blobs.
  expect(await service.post('/api/v1/tx', body)).toMatchObject({ status: 422, body: { code: 'unknown_signer' } });
  await Promise.all(flood);
  expect(new Set(busy)).toEqual(new Set(['blobs_busy']));
});

describe('a transaction', () => {
  it('goes from PENDING to CONFIRMED on a real node, and every step is in its audit trail', async () => {
    const created = await service.post('/api/v1/tx', transfer(ALICE, 'first'));
    expect(created).toMatchObject({
      status: 202,
      body: { state: 'PENDING', nonce: null, signer: ALICE.toLowerCase() },
    });
    const tx = await confirmed(created.body.txId);
    expect(tx).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });

    const history = await service.get<Page<HistoryEntry>>(`/api/v1/tx/${String(created.body.txId)}/history`);
    const steps = history.body.items.map(({ reason, fencingToken }) => [reason, fencingToken]);
    expect(steps).toEqual([
      ['queued', null],
      ...['nonce_reserved', 'signed', 'sent', 'mined', 'confirmed'].map((reason) => [reason, '1']),
    ]);
    const attempts = await service.get(`/api/v1/tx/${String(created.body.txId)}/attempts`);
    expect(attempts.body.items).toMatchObject([{ kind: 'payload', status: 'MINED', txHash: tx['txHash'] }]);
    const found = await service.get(
      `/api/v1/tx/by-request?signer=${ALICE.toUpperCase().replace('0X', '0x')}&requestId=first`,
    );
    expect(found.body.txId).toBe(created.body.txId);
  });

  it('can create a contract', async () => {
    const { body } = await service.post(
      '/api/v1/tx',
      transfer(ALICE, 'deploy', { payload: { data: '0x6001600c60003960016000f300' } }),
    );
    const tx = await confirmed(body.txId);
    expect(tx).toMatchObject({
      state: 'CONFIRMED',
      receipt: { contractAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
    });
  });

  it('that would revert ends FAILED with the decoded reason, and burns no nonce', async () => {
    const deployed = await confirmed(
      (await service.post('/api/v1/tx', transfer(DAVE, 'reverter', { payload: { data: ALWAYS_REVERTS } }))).body.txId,
    );
    const contract = (deployed['receipt'] as { contractAddress: string }).contractAddress;
    const before = (await signerOf(DAVE)).cursor;
    const { body } = await service.post('/api/v1/tx', transfer(DAVE, 'reverts', { payload: { to: contract } }));
    expect(await confirmed(body.txId)).toMatchObject({
      state: 'FAILED',
      nonce: null,
      failureReason: expect.stringContaining('no luck'),
    });
    expect((await signerOf(DAVE)).cursor).toBe(before);
  });
});

/** One of the accounts that anvil funds; each of the big tests has its own, so that its nonces start at 0. */
function devAccount(index: number): string {
  const account = DEV_ACCOUNTS[index];
  if (account === undefined) throw new Error(`there is no dev account ${index}`);
  return account;
}

async function signerOf(address: string): Promise<SignerView> {
  const { body } = await service.get<Page<SignerView>>('/api/v1/signers');
  const view = body.items.find((each) => each.address === address.toLowerCase());
  if (!view) throw new Error(`${address} is not a signer`);
  return view;
}

describe('idempotency', () => {
  it('100 concurrent creates with one requestId, in several spellings of the signer, are one transaction', async () => {
    const spellings = [BOB, BOB.toLowerCase(), BOB.toUpperCase().replace('0X', '0x')];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => service.post('/api/v1/tx', transfer(spellings[n % 3] ?? BOB, 'same'))),
    );
    expect(new Set(answers.map(({ body }) => body.txId)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(99);
  });

  it('the same requestId with another body is refused, and nothing changes', async () => {
    const first = await service.post('/api/v1/tx', transfer(BOB, 'conflict'));
    const second = await service.post('/api/v1/tx', transfer(BOB, 'conflict', { payload: { to: CAROL, value: '2' } }));
    expect(second).toMatchObject({
      status: 409,
      type: expect.stringContaining('application/problem+json'),
      body: { code: 'idempotency_conflict', retryable: false },
    });
    expect((await service.get(`/api/v1/tx/${String(first.body.txId)}`)).body).toMatchObject({
      payload: { value: '1' },
    });
  });

  it('null is the same as not said', async () => {
    const body = transfer(BOB, 'nulls');
    const first = await service.post('/api/v1/tx', {
      ...body,
      expiresAt: null,
      fees: null,
      metadata: null,
      chainId: null,
    });
    const second = await service.post('/api/v1/tx', body);
    expect([first.status, second.status, second.body.txId]).toEqual([202, 200, first.body.txId]);
  });

  it('the Idempotency-Key header is the requestId', async () => {
    const { requestId, ...body } = transfer(BOB, 'in-header');
    const first = await service.post('/api/v1/tx', body, { 'idempotency-key': String(requestId) });
    const second = await service.post('/api/v1/tx', { ...body, requestId });
    expect([first.status, second.status, second.body.txId]).toEqual([202, 200, first.body.txId]);
  });
});

it('a call is encoded, and is the same request as its data', async () => {
  const call = { function: 'transfer(address,uint256)', args: [CAROL, '1000'] };
  const created = await service.post('/api/v1/tx', transfer(BOB, 'called', { payload: { to: CAROL, call } }));
  const { payload } = await confirmed(created.body['txId']);
  const words = [CAROL.slice(2).toLowerCase(), '3e8'].map((digits) => digits.padStart(64, '0'));
  const data = `0xa9059cbb${words.join('')}`;
  expect(payload).toMatchObject({ data });
  const again = await service.post('/api/v1/tx', transfer(BOB, 'called', { payload: { to: CAROL, data } }));
  expect([created.status, again.status, again.body['txId']]).toEqual([202, 200, created.body['txId']]);
});

describe('bad input', () => {
  const good = transfer(ALICE, 'bad-input');
  const cases: [string, unknown, number, string][] = [
    ['an unknown signer', { ...good, signer: `0x${'9'.repeat(40)}` }, 422, 'unknown_signer'],
    ['a chain that is not configured', { ...good, chainId: 1 }, 422, 'unknown_chain'],
    ['bad hex', { ...good, payload: { to: CAROL, data: '0x123' } }, 400, 'invalid_request'],
    ['a bad address', { ...good, payload: { to: '0x1234' } }, 400, 'invalid_request'],
    ['a call without a receiver', { ...good, payload: { call: { function: 'f()' } } }, 400, 'invalid_payload'],
    [
      'a call and data',
      { ...good, payload: { to: CAROL, data: '0x', call: { function: 'f()' } } },
      400,
      'invalid_payload',
    ],
    ['a call without a function', { ...good, payload: { to: CAROL, call: { args: [] } } }, 400, 'invalid_request'],
    [
      'a call whose argument is of another type',
      { ...good, payload: { to: CAROL, call: { function: 'f(bool)', args: ['false'] } } },
      400,
      'invalid_call',
    ],
    ['a signer whose checksum is wrong', { ...good, signer: ALICE_TYPED }, 400, 'invalid_checksum'],
    ['a receiver whose checksum is wrong', { ...good, payload: { to: CAROL_TYPED } }, 400, 'invalid_checksum'],
    [
      'an access list with a wrong checksum',
      {
        ...good,
        payload: { to: CAROL, accessList: [CAROL, CAROL_TYPED].map((address) => ({ address, storageKeys: [] })) },
      },
      400,
      'invalid_checksum',
    ],
    ...[
      { address: CAROL_TYPED, signer: ALICE },
      { address: CAROL, signer: ALICE_TYPED },
    ].map((authorization): [string, unknown, number, string] => [
      `an authorization with a wrong checksum: ${JSON.stringify(authorization)}`,
      { ...good, payload: { to: ALICE, gasLimit: '100000', authorizationList: [authorization] } },
      400,
      'invalid_checksum',
    ]),
    ['a negative value', { ...good, payload: { to: CAROL, value: '-1' } }, 400, 'invalid_request'],
    [
      'a value above 256 bits',
      { ...good, payload: { to: CAROL, value: (1n << 256n).toString() } },
      400,
      'invalid_request',
    ],
    ['an unknown field', { ...good, vlaue: 1 }, 400, 'unknown_field'],
    ['an unknown field inside', { ...good, payload: { to: CAROL, gas: 1 } }, 400, 'unknown_field'],
    ['no requestId', { ...good, requestId: undefined }, 400, 'missing_request_id'],
    ['a requestId that is no text', { ...good, requestId: 'a\u0000b' }, 400, 'invalid_request'],
    ['metadata that cannot be stored', { ...good, metadata: { note: 'a\u0000b' } }, 400, 'invalid_request'],
    ['metadata that is too long', { ...good, metadata: { note: 'x'.repeat(16_384) } }, 422, 'metadata_too_large'],
    [
      'less gas than any transaction needs',
      { ...good, payload: { to: CAROL, gasLimit: '20999' } },
      422,
      'gas_limit_too_low',
    ],
    [
      'less gas than the chain wants for the call data (EIP-7623)',
      { ...good, payload: { to: CAROL, data: `0x${'ff'.repeat(5_000)}`, gasLimit: '102000' } },
      422,
      'gas_limit_too_low',
    ],
    [
      'more data than a pool takes',
      { ...good, payload: { to: CAROL, data: `0x${'ff'.repeat(131_072)}` } },
      422,
      'payload_too_large',
    ],
    [
      'more init code than the chain takes (EIP-3860)',
      { ...good, payload: { data: `0x${'5b'.repeat(49_153)}`, gasLimit: '16000000' } },
      422,
      'payload_too_large',
    ],
    ['a time that is none', { ...good, expiresAt: 'tomorrow' }, 400, 'invalid_request'],
    [
      'a storage key that is not 32 bytes',
      { ...good, payload: { to: CAROL, accessList: [{ address: CAROL, storageKeys: ['0x01'] }] } },
      400,
      'invalid_request',
    ],
    ['an access list of lists', { ...good, payload: { to: CAROL, accessList: [[]] } }, 400, 'invalid_request'],
    ['a fee above 2^128', { ...good, fees: { maxFeePerGas: `1${'0'.repeat(39)}` } }, 400, 'invalid_fees'],
    [
      'metadata that is nested without end',
      `{"signer":"${ALICE}","requestId":"deep","payload":{"to":"${CAROL}"},"metadata":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}}`,
      400,
      'nested_too_deeply',
    ],
    ['no payload', { ...good, payload: undefined }, 400, 'invalid_request'],
    ['neither receiver nor init code', { ...good, payload: {} }, 400, 'invalid_payload'],
    ['an array', [good], 400, 'invalid_request'],
    ['malformed JSON', '{"signer": ', 400, 'malformed_json'],
    [
      'a body of 10 MB',
      { ...good, payload: { to: CAROL, data: `0x${'00'.repeat(5_000_000)}` } },
      413,
      'body_too_large',
    ],
  ];

  it.each(cases)(
    '%s gets a problem that tells what is wrong, and nothing is stored',
    async (_name, body, status, code) => {
      const before = await stored();
      const answer = await service.post('/api/v1/tx', body);
      expect(answer).toMatchObject({
        status,
        type: expect.stringContaining('application/problem+json'),
        body: { code, status, retryable: false },
      });
      expect(answer.body).toMatchObject({
        title: expect.any(String),
        detail: expect.any(String),
        advice: expect.any(String),
      });
      expect(await stored()).toBe(before);
    },
  );

  it.each([
    ['/api/v1/tx/nonsense', 404, 'tx_not_found'],
    ['/api/v1/tx/019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', 404, 'tx_not_found'],
    ['/api/v1/tx/019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b/history', 404, 'tx_not_found'],
    ['/api/v1/tx?cursor=nonsense', 400, 'invalid_cursor'],
    ['/api/v1/tx?limit=100000', 400, 'invalid_request'],
    ['/api/v1/tx?state=LOST', 400, 'invalid_request'],
    ['/api/v1/tx?chainId=99999999999999999999', 400, 'invalid_request'],
    [`/api/v1/tx/by-request?signer=${ALICE}&requestId=%00`, 400, 'invalid_request'],
    ['/api/v1/nowhere', 404, 'route_not_found'],
    [`/api/v1/tx?signer=${ALICE_TYPED}`, 400, 'invalid_checksum'],
    [`/api/v1/tx/by-request?signer=${ALICE_TYPED}&requestId=a`, 400, 'invalid_checksum'],
    [`/api/v1/events?signer=${ALICE_TYPED}`, 400, 'invalid_checksum'],
    [`/api/v1/signers/31337/${ALICE_TYPED}/balance`, 400, 'invalid_checksum'],
  ])('GET %s answers %i %s', async (path, status, code) => {
    expect(await service.get(path)).toMatchObject({ status, body: { code } });
  });
});

it('a typo is found wherever an address is posted, and changes nothing', async () => {
  const { body: tx } = await service.post('/api/v1/tx', transfer(ALICE, 'typo-of-replace'));
  const replacement = { requestId: 'typo', payload: { to: CAROL_TYPED } };
  const posts: [string, unknown][] = [
    [`/api/v1/tx/${String(tx.txId)}/replace`, replacement],
    ['/api/v1/webhooks', { url: 'https://example.com', signers: [ALICE, ALICE_TYPED] }],
    ...['pause', 'resume', 'sync'].map((verb): [string, unknown] => [
      `/api/v1/signers/31337/${ALICE_TYPED}/${verb}`,
      {},
    ]),
  ];
  for (const [path, body] of posts)
    expect({ path, ...(await service.post(path, body)) }).toMatchObject({
      path,
      status: 400,
      body: { code: 'invalid_checksum' },
    });
  const batch = await service.post('/api/v1/tx/batch', {
    items: [transfer(ALICE_TYPED, 'typo'), transfer(ALICE, 'no-typo')],
  });
  expect(batch.body.items).toMatchObject([{ status: 400, problem: { code: 'invalid_checksum' } }, { status: 202 }]);
});

describe('lists', () => {
  it('page through all transactions of a signer, newest first, each once', async () => {
    for (let n = 0; n < 5; n += 1) await service.post('/api/v1/tx', transfer(DAVE, `page-${n}`));
    const seen: string[] = [];
    for await (const tx of pages(`signer=${DAVE}&limit=2`)) seen.push(tx.requestId);
    expect(seen.slice(0, 5)).toEqual(['page-4', 'page-3', 'page-2', 'page-1', 'page-0']);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('operations', () => {
  it('shows who acts for a signer, and metrics, and the API with an example of every request and every error', async () => {
    expect(await signerOf(ALICE)).toMatchObject({
      chainId: 31337,
      leaseOwner: expect.any(String),
      fencingToken: '1',
      cursor: expect.any(Number),
      backlog: expect.any(Number),
    });
    const metrics = (await service.get<{ text: string }>('/metrics')).body.text;
    for (const name of [
      'lease_acquire_total',
      'lease_held',
      'tx_create_total',
      'tx_submit_total',
      'tx_state_total',
      'rpc_requests_total',
      'db_commit_seconds',
      'worker_queue_depth',
      'worker_queue_latency_seconds',
      'signer_backlog',
    ]) {
      expect(metrics).toContain(name);
    }
    const { paths } = (await service.get<OpenApi>('/docs-json')).body;
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/v1/tx', '/api/v1/tx/{txId}', '/api/v1/signers', '/health/ready', '/metrics']),
    );
    for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
      if (operation.requestBody) expect(operation.requestBody.content?.['application/json']?.examples).toBeDefined();
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) expect(response.content?.['application/problem+json']?.examples).toBeDefined();
      }
    }
    expect((await service.get('/docs')).type).toContain('text/html');
    expect((await service.get('/health/live')).body).toEqual({ status: 'ok' });
  });
});

describe('many at once', () => {
  it('1,000 concurrent creates on one signer take the next 1,000 nonces, and each payload is on chain once', async () => {
    const signer = devAccount(5);
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => service.post('/api/v1/tx', marked(signer, 'thousand', n))),
    );
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    await allConfirmed(signer, 1_000);
    await expectEachOnce(signer, 'thousand', 1_000);
  });

  it('a kill -9 with 500 in flight loses nothing and sends nothing twice', async () => {
    const signer = devAccount(6);
    const creates = Promise.allSettled(
      Array.from({ length: 500 }, (_, n) => service.post('/api/v1/tx', marked(signer, 'killed', n))),
    );
    await until('some of them are in flight', async () => (await signerOf(signer)).inFlight > 0);
    await service.kill();
    await creates;
    service = await start();
    // A client that got no answer asks again, with the same requestId.
    const again = await Promise.all(
      Array.from({ length: 500 }, (_, n) => service.post('/api/v1/tx', marked(signer, 'killed', n))),
    );
    expect(again.every(({ status }) => status === 200 || status === 202)).toBe(true);
    await allConfirmed(signer, 500);
    await expectEachOnce(signer, 'killed', 500);
  });

  it('a SIGTERM under load ends with exit code 0, and the next start goes on at once', async () => {
    const signer = devAccount(7);
    await Promise.all(Array.from({ length: 100 }, (_, n) => service.post('/api/v1/tx', marked(signer, 'term', n))));
    expect(await service.stop()).toBe(0);
    service = await start();
    await allConfirmed(signer, 100);
    await expectEachOnce(signer, 'term', 100);
  });
});

async function* pages(query: string): AsyncGenerator<TxView> {
  let cursor: string | null = null;
  do {
    const page: Page<TxView> = (
      await service.get<Page<TxView>>(`/api/v1/tx?${query}${cursor === null ? '' : `&cursor=${cursor}`}`)
    ).body;
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

async function allConfirmed(signer: string, count: number): Promise<void> {
  await until(
    `${count} of ${signer} are confirmed`,
    async () => {
      let confirmedSoFar = 0;
      for await (const _ of pages(`signer=${signer}&state=CONFIRMED&limit=200`)) confirmedSoFar += 1;
      return confirmedSoFar >= count;
    },
    120_000,
  );
}

async function expectEachOnce(signer: string, mark: string, count: number): Promise<void> {
  const ours = (await readChain(anvil.url)).filter(({ from }) => from.toLowerCase() === signer.toLowerCase());
  const counts = countByInput(ours);
  for (let n = 0; n < count; n += 1) expect([n, counts.get(markOf(mark, n))]).toEqual([n, 1]);
  // Nothing else, no gap, no nonce twice.
  expect(ours.map(({ nonce }) => nonce).sort((a, b) => a - b)).toEqual(
    Array.from({ length: count }, (_, nonce) => nonce),
  );
}

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { FindNonce } from '../../../src/modules/ops/application/find-nonce.js';
import { ListNonces } from '../../../src/modules/ops/application/list-nonces.js';
import { NoncesController } from '../../../src/modules/ops/infrastructure/http/nonces.controller.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const SIGNER = aSigner();
const PATH = `/api/v1/signers/${DEV_CHAIN}/${SIGNER.address}/nonces`;
const SINCE = new Date('2026-11-21T08:00:00Z');
const SEQUENCE = { cursor: 2n ** 60n, chain: { latest: 7n, pending: 9n }, missing: { from: 7n, count: 2 } };
const SLOT = { nonce: 8n, status: 'HELD', use: 'payload', txId: null, state: 'IN_MEMPOOL', txHash: null, since: SINCE };
const SEQUENCE_JSON = {
  ...SIGNER,
  ...SEQUENCE,
  cursor: '1152921504606846976',
  chain: { latest: 7, pending: 9 },
  missing: { from: 7, count: 2 },
};
const SLOT_JSON = { ...SLOT, nonce: 8, since: SINCE.toISOString() };

let http: HttpApp;
let asked: unknown[];
let nextBelow: bigint | null;

beforeAll(async () => {
  const list = async (...args: unknown[]) => (asked.push(args), { ...SEQUENCE, items: [SLOT], nextBelow });
  const block = { number: 5, hash: aHash(5) };
  const attempt = {
    txHash: aHash(1),
    txId: 'a',
    kind: 'payload',
    status: 'ACCEPTED',
    createdAt: SINCE,
    lastSentAt: null,
  };
  const find = async (...args: unknown[]) => (
    asked.push(args),
    {
      ...SEQUENCE,
      slot: SLOT,
      attempts: [attempt, { ...attempt, lastSentAt: SINCE }],
      onChain: { txHash: aHash(1), block },
    }
  );
  http = await startHttpApp({
    controllers: [NoncesController],
    providers: [
      { provide: ListNonces, useValue: { execute: list } },
      { provide: FindNonce, useValue: { execute: find } },
    ],
  });
});
beforeEach(() => {
  [asked, nextBelow] = [[], null];
});
afterAll(() => http.app.close());

async function get(url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const { status, text } = await send(http.port, { url });
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

it('a list leads to the next page by its cursor', async () => {
  nextBelow = 8n;
  const { status, body } = await get(PATH);
  expect([status, body]).toEqual([200, { ...SEQUENCE_JSON, items: [SLOT_JSON], nextCursor: expect.any(String) }]);
  nextBelow = null;
  const last = await get(`${PATH}?status=HELD&limit=3&cursor=${String(body['nextCursor'])}`);
  expect(last.body['nextCursor']).toBeNull();
  expect(asked).toEqual([
    [SIGNER, { limit: 50 }, expect.anything()],
    [SIGNER, { limit: 3, status: 'HELD', below: 8n }, expect.anything()],
  ]);
  expect((await get(`${PATH}?cursor=x`)).body['code']).toBe('invalid_cursor');
  expect((await get(`${PATH}?status=x`)).status).toBe(400);
});

it('one nonce is read by its decimal number', async () => {
  const { status, body } = await get(`${PATH}/8`);
  const attempt = { txHash: aHash(1), txId: 'a', kind: 'payload', status: 'ACCEPTED', createdAt: SINCE.toISOString() };
  expect([status, body]).toEqual([
    200,
    {
      ...SEQUENCE_JSON,
      nonce: 8,
      slot: SLOT_JSON,
      attempts: [
        { ...attempt, lastSentAt: null },
        { ...attempt, lastSentAt: SINCE.toISOString() },
      ],
      onChain: { txHash: aHash(1), blockNumber: 5, blockHash: aHash(5) },
    },
  ]);
  expect(asked).toEqual([[SIGNER, 8n, expect.anything()]]);
  for (const text of ['0x8', '08', '-1', '1'.repeat(19)])
    expect((await get(`${PATH}/${text}`)).body['code']).toBe('invalid_nonce');
});

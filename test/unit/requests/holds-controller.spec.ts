import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../../src/kernel/caller.js';
import { ReserveNonces } from '../../../src/modules/requests/application/reserve-nonces.js';
import { HoldsController } from '../../../src/modules/requests/infrastructure/http/holds.controller.js';
import { aManagedTx, aRequest, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const SIGNER = aSigner();
const EXPIRES_AT = new Date('2026-11-21T08:00:00Z');
const HOLD = { tx: aManagedTx().allocated(7n).build(), request: aRequest({ requestId: 'r', expiresAt: EXPIRES_AT }) };

let http: HttpApp;
let asked: unknown[];
let isNew: boolean;

beforeAll(async () => {
  const execute = async (input: unknown) => (asked.push(input), { holds: [HOLD], isNew });
  http = await startHttpApp({
    controllers: [HoldsController],
    providers: [{ provide: ReserveNonces, useValue: { execute } }],
  });
});
beforeEach(() => {
  [asked, isNew] = [[], true];
});
afterAll(() => http.app.close());

async function post(payload: object, headers = {}): Promise<{ status: number; body: Record<string, unknown> }> {
  const url = `/api/v1/signers/${DEV_CHAIN}/${SIGNER.address}/nonces`;
  const { status, text } = await send(http.port, { method: 'POST', url, payload, headers });
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

describe('a reservation', () => {
  it('is for one nonce and five minutes, unless it says so', async () => {
    const { status, body } = await post({ requestId: 'r' });
    const hold = {
      ...{ holdId: HOLD.tx.id, requestId: 'r', nonce: 7, state: 'ALLOCATED', txHash: null },
      expiresAt: EXPIRES_AT.toISOString(),
    };
    expect([status, body]).toEqual([202, { ...SIGNER, holds: [hold] }]);
    isNew = false;
    expect((await post({ count: 3, ttl: 60, metadata: { a: 1 } }, { 'idempotency-key': 'k' })).status).toBe(200);
    await post({ requestId: 'p', private: true, count: null });
    const base = { signer: SIGNER, sender: ANYONE };
    expect(asked).toEqual([
      { ...base, requestId: 'r', count: 1, ttl: 300, metadata: null },
      { ...base, requestId: 'k', count: 3, ttl: 60, metadata: { a: 1 } },
      { ...base, requestId: 'p', count: 1, ttl: null, metadata: null },
    ]);
  });

  it.each<[string, object]>([
    ['missing_request_id', {}],
    ['invalid_request', { requestId: 'r', count: 0 }],
    ['invalid_request', { requestId: 'r', count: 101 }],
    ['invalid_request', { requestId: 'r', ttl: 9 }],
    ['invalid_request', { requestId: 'r', ttl: 86_401 }],
    ['ttl_of_private', { requestId: 'r', ttl: 60, private: true }],
    ['invalid_request_id', { requestId: 'r'.repeat(191), count: 2 }],
  ])('is refused with %s: %j', async (code, body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { code } });
    expect(asked).toEqual([]);
  });

  it('of one nonce may have as long a requestId as a transaction', async () => {
    expect((await post({ requestId: 'r'.repeat(200) })).status).toBe(202);
  });
});

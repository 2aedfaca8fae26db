import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SignerBalance } from '../../../src/modules/ops/application/signer-balance.js';
import { SignerBalanceController } from '../../../src/modules/ops/infrastructure/http/signer-balance.controller.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';
import { someFunds } from '../lanes/funds-fixture.js';

const SIGNER = aSigner();
let http: HttpApp;

beforeAll(async () => {
  const execute = async () => ({
    ...someFunds({ missing: 7n }),
    inFlightCount: 3,
    at: new Date('2026-11-21T08:00:00Z'),
  });
  http = await startHttpApp({
    controllers: [SignerBalanceController],
    providers: [{ provide: SignerBalance, useValue: { execute } }],
  });
});
afterAll(() => http.app.close());

it('GET /api/v1/signers/{chainId}/{address}/balance answers in decimal strings', async () => {
  const { status, text } = await send(http.port, { url: `/api/v1/signers/${DEV_CHAIN}/${SIGNER.address}/balance` });
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      ...SIGNER,
      balance: '100',
      inFlight: { count: 3, wei: '30' },
      queued: { count: 1, wei: '20', estimated: true, cut: false },
      available: '70',
      missing: '7',
      asOf: '2026-11-21T08:00:00.000Z',
    },
  ]);
  expect((await send(http.port, { url: `/api/v1/signers/x/${SIGNER.address}/balance` })).status).toBe(400);
});

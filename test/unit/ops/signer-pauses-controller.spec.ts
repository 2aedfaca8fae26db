import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Provider } from '@nestjs/common';
import { ANYONE } from '../../../src/kernel/caller.js';
import { PauseSigner } from '../../../src/modules/ops/application/pause-signer.js';
import { ResumeSigner } from '../../../src/modules/ops/application/resume-signer.js';
import { SignerPausesController } from '../../../src/modules/ops/infrastructure/http/signer-pauses.controller.js';
import { type Pause, SignerPauses } from '../../../src/modules/signers/index.js';
import { aPauseOrder, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type Answer, type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const SIGNER = aSigner(0xab);
const PAUSE = {
  ...SIGNER,
  account: null,
  by: aPauseOrder().by,
  reason: 'key rotation',
  since: new Date('2026-11-21T08:00:00Z'),
};

let http: HttpApp;
let calls: unknown[][];
/** A pause of a wider scope. */
let held: Pause | null;

beforeAll(async () => {
  const providers: Provider[] = [
    {
      provide: PauseSigner,
      useValue: { execute: async (...args: unknown[]) => (calls.push(['pause', ...args]), PAUSE) },
    },
    {
      provide: ResumeSigner,
      useValue: { execute: async (...args: unknown[]) => void calls.push(['resume', ...args]) },
    },
  ];
  providers.push({ provide: SignerPauses, useValue: { of: async () => held } });
  http = await startHttpApp({ controllers: [SignerPausesController], providers });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [calls, held] = [[], null];
});

function post(what: string, body?: object, path = `${DEV_CHAIN}/${SIGNER.address}`): Promise<Answer> {
  return send(http.port, {
    method: 'POST',
    url: `/api/v1/signers/${path}/${what}`,
    ...(body === undefined ? {} : { payload: body }),
  });
}

describe.each(['pause', 'resume'])('POST /api/v1/signers/{chainId}/{address}/%s', (what) => {
  it('passes the reason on, and takes a request without one or without a body', async () => {
    for (const body of [{ reason: 'key rotation' }, {}, undefined])
      expect(await post(what, body)).toMatchObject({ status: 200 });
    expect(calls).toEqual(
      ['key rotation', null, null].map((reason) => [what, SIGNER, { by: ANYONE, action: `${what}Signer`, reason }]),
    );
  });

  it('takes a reason of up to 500 characters', async () => {
    expect(await post(what, { reason: 'x'.repeat(500) })).toMatchObject({ status: 200 });
    expect(await post(what, { reason: 'x'.repeat(501) })).toMatchObject({ status: 400 });
    expect(await post(what, { reason: 7 })).toMatchObject({ status: 400 });
    expect(calls).toHaveLength(1);
  });

  it('refuses what is not a signer', async () => {
    const { status, text } = await post(what, {}, `x/${SIGNER.address}`);
    expect([status, JSON.parse(text).code, calls]).toEqual([400, 'invalid_chain_id', []]);
  });
});

it('a pause is answered as it is in force, and a resume with what still holds', async () => {
  const paused = {
    ...{ chainId: DEV_CHAIN, signer: SIGNER.address, account: null, by: 'api' },
    ...{ reason: 'key rotation', since: '2026-11-21T08:00:00.000Z' },
  };
  expect(JSON.parse((await post('pause')).text)).toEqual({ ...SIGNER, paused });
  expect(JSON.parse((await post('resume')).text)).toEqual({ ...SIGNER, paused: null });
  held = { ...PAUSE, address: null };
  expect(JSON.parse((await post('resume')).text)).toEqual({ ...SIGNER, paused: { ...paused, signer: null } });
});

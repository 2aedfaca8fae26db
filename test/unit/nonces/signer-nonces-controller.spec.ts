import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminAction, AuditLog } from '../../../src/kernel/audit-log.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import { TxQueries } from '../../../src/modules/ledger/index.js';
import { type SyncReport, SyncSigner } from '../../../src/modules/nonces/application/sync-signer.js';
import { SignerNoncesController } from '../../../src/modules/nonces/infrastructure/http/signer-nonces.controller.js';
import { aHash, aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { type Answer, type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const SIGNER = aSigner(0xab);
const HUGE = 2n ** 60n;
const REPORT: SyncReport = {
  signer: SIGNER,
  chain: { nonce: 5n, block: { number: 7, hash: aHash(7) } },
  pending: 6n,
  cursor: { before: 3n, after: 8n },
  gap: { freed: 2, remaining: 1 },
  recovered: [{ nonce: 4n, txHash: aHash(4) }],
  behind: null,
  leftFree: [],
  refusal: null,
};

let http: HttpApp;
let calls: unknown[][];
let report: SyncReport;
/** With the number of calls before it. */
let audited: [AdminAction, number][];

beforeAll(async () => {
  const execute = async (...args: unknown[]) => (calls.push(args), report);
  const providers = [
    { provide: SyncSigner, useValue: { execute } },
    {
      provide: AuditLog,
      useValue: { record: async (action: AdminAction) => void audited.push([action, calls.length]) },
    },
    { provide: TxQueries, useValue: {} },
  ];
  http = await startHttpApp({ controllers: [SignerNoncesController], providers });
});
afterAll(() => http.app.close());
beforeEach(() => {
  [calls, report, audited] = [[], REPORT, []];
});

function post(rest = '', path = `${DEV_CHAIN}/${SIGNER.address}`): Promise<Answer> {
  return send(http.port, { method: 'POST', url: `/api/v1/signers/${path}/sync${rest}` });
}

describe('POST /api/v1/signers/{chainId}/{address}/sync', () => {
  it('aligns the signer in the path, written in any case', async () => {
    await post();
    await post('', `1/${SIGNER.address.replace('ab', 'AB')}`);
    expect(calls.map(([signer]) => signer)).toEqual([SIGNER, { ...SIGNER, chainId: 1 }]);
  });

  it('is in the audit log before it begins, but not when nothing is changed', async () => {
    await post('?vouch=true');
    await post('?dryRun=true');
    const object = `signer:${DEV_CHAIN}:${SIGNER.address}`;
    expect(audited).toEqual([[{ by: ANYONE, action: 'syncSigner', object, detail: { vouch: true } }, 0]]);
  });

  it('frees a thousand nonces of a gap at most, or as many as it is told, none among them', async () => {
    for (const rest of ['', '?maxFills=0', '?maxFills=10000']) expect((await post(rest)).status).toBe(200);
    expect(calls.map(([, atMost]) => atMost)).toEqual([1_000, 0, 10_000]);
  });

  it.each([
    ['says so', '?vouch=true', true],
    ['says the contrary', '?vouch=false', false],
    ['says nothing', '', false],
  ] as const)('hears that a person vouches that nothing is out, or not: who %s', async (_words, rest, vouches) => {
    expect((await post(rest)).status).toBe(200);
    expect(calls).toEqual([[SIGNER, 1_000, vouches, false]]);
  });

  it('says only what it would do when it is asked to: also why not, and which nonces a no-op gets', async () => {
    const leftBy = aManagedTx({ txId: 'failed' }).build();
    const left = { signer: SIGNER, nonce: 5n, leftBy, txHash: aHash(1), blockHash: aHash(2), blockNumber: 2 };
    report = { ...REPORT, behind: 'LOWER_NONCE', leftFree: [left], refusal: { detail: 'not now', advice: 'wait' } };
    const { text } = await post('?dryRun=true');
    expect(calls).toEqual([[SIGNER, 1_000, false, true]]);
    expect(JSON.parse(text)).toMatchObject({
      dryRun: true,
      behind: 'LOWER_NONCE',
      leftFree: [{ nonce: 5, txId: 'failed', txHash: aHash(1) }],
      refusal: 'not now: wait',
    });
  });

  it.each(['?maxFills=-1', '?maxFills=10001', '?maxFills=1.5', '?vouch=yes', '?dryRun=1', '?fills=1'])(
    'refuses %s',
    async (query) => {
      expect((await post(query)).status).toBe(400);
      expect(calls).toEqual([]);
    },
  );

  it.each([
    [`0/${SIGNER.address}`, 'invalid_chain_id'],
    [`x1/${SIGNER.address}`, 'invalid_chain_id'],
    [`1x/${SIGNER.address}`, 'invalid_chain_id'],
    [`${'1'.repeat(17)}/${SIGNER.address}`, 'invalid_chain_id'],
    [`1/${SIGNER.address}0`, 'invalid_address'],
  ])('refuses the signer %s', async (path, code) => {
    const { status, text } = await post('', path);
    expect([status, JSON.parse(text).code, calls]).toEqual([400, code, []]);
  });

  it('answers with the proof, the change, and what was found', async () => {
    const { status, text } = await post();
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        dryRun: false,
        ...SIGNER,
        chain: { nonce: 5, blockNumber: 7, blockHash: aHash(7) },
        pending: 6,
        cursor: { before: 3, after: 8 },
        gap: { freed: 2, remaining: 1 },
        recovered: [{ nonce: 4, txHash: aHash(4) }],
        behind: null,
        leftFree: [],
        refusal: null,
      },
    ]);
  });

  it('has no cursor before the first alignment, and writes what JSON numbers cannot hold as text', async () => {
    report = { ...REPORT, pending: HUGE, cursor: { before: null, after: HUGE } };
    expect(JSON.parse((await post()).text)).toMatchObject({
      pending: HUGE.toString(),
      cursor: { before: null, after: HUGE.toString() },
    });
  });
});

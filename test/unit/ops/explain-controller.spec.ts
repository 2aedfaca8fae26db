import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ExplainTx, type ExplainedTx } from '../../../src/modules/ops/application/explain-tx.js';
import { ExplainController } from '../../../src/modules/ops/infrastructure/http/explain.controller.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const TX_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const url = (txId: string): string => `/api/v1/tx/${txId}/explain`;

let http: HttpApp;
let explained: ExplainedTx | null;
let asked: string[];

beforeAll(async () => {
  const execute = async (txId: string) => (asked.push(txId), explained);
  http = await startHttpApp({
    controllers: [ExplainController],
    providers: [{ provide: ExplainTx, useValue: { execute } }],
  });
});
afterAll(() => http.app.close());
beforeEach(() => {
  asked = [];
});

const signer = {
  paused: null,
  leaseOwner: null,
  inFlight: 0,
  inFlightLimit: { configured: 64, learnt: null, delegated: false },
};
const words = { summary: 'It waits.', next: { what: 'it is sent', at: null }, operator: ['Wait.'] };
const plain = { txId: TX_ID, state: 'IN_MEMPOOL', subState: null, since: '2026-11-21T08:00:00.000Z' };
const race = { command: null, noOpSignedAt: null };
const around = { queue: { position: 1, ahead: 0 }, blockedBy: null, attempts: 1, endpoints: [], signer, ...race };

function anExplained(facts: object): ExplainedTx {
  return {
    facts: { ...plain, ...around, price: null, balance: null, ...facts },
    explanation: words,
  } as unknown as ExplainedTx;
}

async function get(txId = TX_ID): Promise<unknown> {
  return JSON.parse((await send(http.port, { url: url(txId) })).text);
}

describe('GET /api/v1/tx/{txId}/explain', () => {
  it('answers in words, with the facts, and with nulls for what is not known', async () => {
    explained = anExplained({});
    expect(await get()).toEqual({ ...plain, ...words, facts: { ...around, price: null, balance: null } });
  });

  it('writes money as decimal strings', async () => {
    const big = 10n ** 20n;
    const price = { maxFeePerGas: big, maxPriorityFeePerGas: 1n };
    explained = anExplained({
      price: { highestAttempt: price, market: price, congestedTip: 2n, aboveMarket: false },
      balance: { balance: big, committed: 1n, queuedAhead: 2n, missing: 3n },
    });
    const shown = { maxFeePerGas: String(big), maxPriorityFeePerGas: '1' };
    expect(await get()).toMatchObject({
      facts: {
        price: { highestAttempt: shown, market: shown, congestedTip: '2', aboveMarket: false },
        balance: { balance: String(big), committed: '1', queuedAhead: '2', missing: '3' },
      },
    });
  });

  it('knows no tx by another kind of id, and asks nobody', async () => {
    expect(await get('42')).toMatchObject({ status: 404, code: 'tx_not_found' });
    expect(asked).toEqual([]);
    explained = null;
    expect(await get()).toMatchObject({ status: 404, code: 'tx_not_found' });
  });
});

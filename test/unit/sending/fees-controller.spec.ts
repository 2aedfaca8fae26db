import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Unprocessable } from '../../../src/kernel/errors.js';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { QuoteFees, type QuotedFees } from '../../../src/modules/sending/application/quote-fees.js';
import { FeesController } from '../../../src/modules/sending/infrastructure/http/fees.controller.js';
import { DEV_CHAIN, aFeeQuote } from '../../support/builders.js';
import { type HttpApp, send, startHttpApp } from '../platform/http-app.js';

const GWEI = 1_000_000_000n;
const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas });
const FEES: QuotedFees = {
  chainId: DEV_CHAIN,
  quote: aFeeQuote({ blockNumber: 4711, baseFeePerGas: 20_000_000n * GWEI, blobBaseFee: 7n }),
  caps: { maxFeePerGas: 900n, maxPriorityFeePerGas: 90n, maxFeePerBlobGas: 9n },
  speeds: { slow: fees(11n, 1n), standard: fees(12n, 2n), fast: fees(13n, 3n), urgent: fees(15n, 5n) },
};

let http: HttpApp;
let answer: (chainId: number) => QuotedFees;

beforeAll(async () => {
  const providers = [{ provide: QuoteFees, useValue: { execute: async (chainId: number) => answer(chainId) } }];
  http = await startHttpApp({ controllers: [FeesController], providers });
});
afterAll(() => http.app.close());
beforeEach(() => {
  answer = () => FEES;
});

async function get(chainId: string | number): Promise<{ status: number; body: Record<string, unknown> }> {
  const { status, text } = await send(http.port, { method: 'GET', url: `/api/v1/chains/${chainId}/fees` });
  return { status, body: JSON.parse(text) };
}

describe('GET /api/v1/chains/{chainId}/fees', () => {
  it('shows the price of each speed, and amounts as decimal strings', async () => {
    expect(await get(DEV_CHAIN)).toEqual({
      status: 200,
      body: {
        chainId: DEV_CHAIN,
        blockNumber: 4711,
        hasBaseFee: true,
        baseFeePerGas: '20000000000000000',
        blobBaseFee: '7',
        congestedTip: '4',
        speeds: {
          slow: { maxFeePerGas: '11', maxPriorityFeePerGas: '1' },
          standard: { maxFeePerGas: '12', maxPriorityFeePerGas: '2' },
          fast: { maxFeePerGas: '13', maxPriorityFeePerGas: '3' },
          urgent: { maxFeePerGas: '15', maxPriorityFeePerGas: '5' },
        },
        caps: { maxFeePerGas: '900', maxPriorityFeePerGas: '90', maxFeePerBlobGas: '9' },
      },
    });
  });

  it('shows gas prices on a chain without a base fee', async () => {
    const quote = { ...FEES.quote, hasBaseFee: false, baseFeePerGas: 0n, blobBaseFee: null };
    const one = fees(8n, 8n);
    answer = () => ({ ...FEES, quote, speeds: { slow: one, standard: one, fast: one, urgent: one } });
    const { body } = await get(DEV_CHAIN);
    expect(body).toMatchObject({ hasBaseFee: false, baseFeePerGas: '0', blobBaseFee: null });
    expect(body['speeds']).toEqual({
      slow: { gasPrice: '8' },
      standard: { gasPrice: '8' },
      fast: { gasPrice: '8' },
      urgent: { gasPrice: '8' },
    });
  });

  it('says that a chain is unknown, or does not answer', async () => {
    answer = (chainId) => {
      throw new Unprocessable('unknown_chain', `chain ${chainId} is not configured`, 'use one of: 1');
    };
    expect(await get(5)).toMatchObject({ status: 422, body: { code: 'unknown_chain', retryable: false } });
    answer = (chainId) => {
      throw new RpcUnavailable('rpc_unavailable', { chainId, method: 'eth_feeHistory' }, 'no endpoint answered');
    };
    expect(await get(5)).toMatchObject({ status: 503, body: { code: 'rpc_unavailable', retryable: true } });
  });

  it.each(['0', 'x1', '1x'])('refuses the chain id %s', async (chainId) => {
    expect(await get(chainId)).toMatchObject({ status: 400, body: { code: 'invalid_chain_id' } });
  });
});

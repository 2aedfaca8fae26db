import { describe, expect, it } from '@jest/globals';
import type { ChainRules, Chains, FeeQuote } from '../../../src/modules/chain/index.js';
import { QuoteFees } from '../../../src/modules/sending/application/quote-fees.js';
import { DEV_CHAIN } from '../../support/builders.js';

const QUOTE: FeeQuote = {
  blockNumber: 7,
  hasBaseFee: true,
  baseFeePerGas: 80n,
  tips: { slow: 10n, standard: 20n, fast: 40n, urgent: 60n },
  congestedTip: 50n,
  blobBaseFee: null,
};
const CAPS = { maxFeePerGas: 205n, maxPriorityFeePerGas: 50n, maxFeePerBlobGas: 9n };

describe('the fees of a chain', () => {
  it('are those of a first attempt of each speed, within the caps of the chain', async () => {
    const asked: number[] = [];
    const chains = { get: (chainId: number) => (asked.push(chainId), { feeQuote: async () => QUOTE }) };
    const quotes = new QuoteFees(chains as unknown as Chains, { feeCaps: () => CAPS } as unknown as ChainRules);
    expect(await quotes.execute(DEV_CHAIN)).toEqual({
      chainId: DEV_CHAIN,
      quote: QUOTE,
      caps: CAPS,
      speeds: {
        slow: { maxFeePerGas: 170n, maxPriorityFeePerGas: 10n },
        standard: { maxFeePerGas: 180n, maxPriorityFeePerGas: 20n },
        fast: { maxFeePerGas: 200n, maxPriorityFeePerGas: 40n },
        urgent: { maxFeePerGas: 205n, maxPriorityFeePerGas: 50n },
      },
    });
    expect(asked).toEqual([DEV_CHAIN]);
  });
});

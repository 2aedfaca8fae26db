import { describe, expect, it } from '@jest/globals';
import { ChainRules, Chains } from '../../../src/modules/chain/index.js';
import { QuoteFees } from '../../../src/modules/sending/application/quote-fees.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { DEV_CHAIN, aFeeQuote } from '../../support/builders.js';

const QUOTE = aFeeQuote({ baseFeePerGas: 80n, tips: { slow: 10n, standard: 20n, fast: 40n, urgent: 60n } });
const CAPS = { maxFeePerGas: 205n, maxPriorityFeePerGas: 50n, maxFeePerBlobGas: 9n };

describe('the fees of a chain', () => {
  it('are those of a first attempt of each speed, within the caps of the chain', async () => {
    const asked: number[] = [];
    const chain = fakeOf(EthersChainConnector, { feeQuote: async () => QUOTE });
    const chains = fakeOf(Chains, { get: (chainId) => (asked.push(chainId), chain) });
    const quotes = new QuoteFees(chains, fakeOf(ChainRules, { feeCaps: () => CAPS }));
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

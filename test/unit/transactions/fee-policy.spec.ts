import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import { bumpedFees, initialFees } from '../../../src/modules/transactions/domain/fee-policy.js';

const GWEI = 1_000_000_000n;
const QUOTE: FeeQuote = {
  blockNumber: 1,
  baseFeePerGas: 10n * GWEI,
  tips: { slow: GWEI, standard: 2n * GWEI, fast: 3n * GWEI, urgent: 5n * GWEI },
};
const OWN = { maxFeePerGas: null, maxPriorityFeePerGas: null };

describe('fees of a first attempt', () => {
  it('are twice the base fee plus the tip of the speed', () => {
    expect(initialFees({ fees: OWN, speed: 'fast' }, QUOTE, null)).toEqual({
      maxFeePerGas: 23n * GWEI,
      maxPriorityFeePerGas: 3n * GWEI,
    });
  });

  it('are what the client said, where it said something', () => {
    const fees = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(initialFees({ fees, speed: 'slow' }, QUOTE, 20n * GWEI)).toEqual(fees);
  });

  it('never offer more than the cap of the chain by themselves, and never a tip above the fee cap', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(price, price, price, (baseFeePerGas, tip, cap) => {
        const quote = { ...QUOTE, baseFeePerGas, tips: { ...QUOTE.tips, urgent: tip } };
        const fees = initialFees({ fees: OWN, speed: 'urgent' }, quote, cap);
        expect(fees.maxFeePerGas <= cap).toBe(true);
        expect(fees.maxPriorityFeePerGas <= fees.maxFeePerGas).toBe(true);
      }),
    );
  });
});

describe('fees of a competitor for the same nonce', () => {
  it('raise both prices by at least 12.5 %, rounded up, and are not below the market', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(price, price, price, price, (a, b, c, d) => {
        const previous = { maxFeePerGas: a, maxPriorityFeePerGas: b };
        const bumped = bumpedFees(previous, { maxFeePerGas: c, maxPriorityFeePerGas: d });
        expect(bumped.maxFeePerGas * 8n >= a * 9n && bumped.maxFeePerGas >= c).toBe(true);
        expect(bumped.maxPriorityFeePerGas * 8n >= b * 9n && bumped.maxPriorityFeePerGas >= d).toBe(true);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import {
  atMarket,
  bumpedFees,
  feesWithin,
  initialFees,
  tooDear,
} from '../../../src/modules/transactions/domain/fee-policy.js';

const GWEI = 1_000_000_000n;
const QUOTE: FeeQuote = {
  blockNumber: 1,
  baseFeePerGas: 10n * GWEI,
  tips: { slow: GWEI, standard: 2n * GWEI, fast: 3n * GWEI, urgent: 5n * GWEI },
};
const CAPS = { maxFeePerGas: 10n ** 16n, maxPriorityFeePerGas: 10n ** 16n };
const OWN = { maxFeePerGas: null, maxPriorityFeePerGas: null };

describe('fees of a first attempt', () => {
  it('are twice the base fee plus the tip of the speed', () => {
    expect(initialFees({ fees: OWN, speed: 'fast' }, QUOTE, CAPS)).toEqual({
      maxFeePerGas: 23n * GWEI,
      maxPriorityFeePerGas: 3n * GWEI,
    });
  });

  it('are what the client said, where it said something', () => {
    const fees = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(initialFees({ fees, speed: 'slow' }, QUOTE, CAPS)).toEqual(fees);
  });

  it('are never above the caps of the chain, whoever chose them', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(price, price, price, price, (maxFeePerGas, maxPriorityFeePerGas, cap, tipCap) => {
        const caps = { maxFeePerGas: cap, maxPriorityFeePerGas: tipCap };
        const fees = initialFees({ fees: { maxFeePerGas, maxPriorityFeePerGas }, speed: 'slow' }, QUOTE, caps);
        expect(fees.maxFeePerGas <= cap && fees.maxPriorityFeePerGas <= tipCap).toBe(true);
      }),
    );
  });

  it('are too dear when the market, or what the client asks for, is above the caps', () => {
    const caps = { maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(tooDear(atMarket('fast'), QUOTE, caps)).toBeNull();
    expect(tooDear(atMarket('urgent'), QUOTE, caps)).toContain('the tip');
    expect(tooDear(atMarket('fast'), { ...QUOTE, baseFeePerGas: 31n * GWEI }, caps)).toContain('the base fee');
    const low = { fees: { ...OWN, maxFeePerGas: 9n * GWEI }, speed: 'slow' } as const;
    expect(tooDear(low, QUOTE, caps)).toContain('is below the base fee');
  });

  it('never offer more than the cap of the chain by themselves, and never a tip above the fee cap', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(price, price, price, (baseFeePerGas, tip, cap) => {
        const quote = { ...QUOTE, baseFeePerGas, tips: { ...QUOTE.tips, urgent: tip } };
        const fees = initialFees({ fees: OWN, speed: 'urgent' }, quote, { ...CAPS, maxFeePerGas: cap });
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
        const bumped = bumpedFees(previous, { maxFeePerGas: c, maxPriorityFeePerGas: d }, CAPS);
        if (!bumped) throw new Error('the caps are far above');
        expect(bumped.maxFeePerGas * 8n >= a * 9n && bumped.maxFeePerGas >= c).toBe(true);
        expect(bumped.maxPriorityFeePerGas * 8n >= b * 9n && bumped.maxPriorityFeePerGas >= d).toBe(true);
      }),
    );
  });
});

describe('fees for nodes that limit the cost of a transaction', () => {
  const fees = { maxFeePerGas: 24n * GWEI, maxPriorityFeePerGas: 3n * GWEI };

  it('are as they were where they fit', () => {
    expect(feesWithin(24n * GWEI * 100n, 100n, fees, QUOTE)).toEqual(fees);
  });

  it('are lowered to what fits, while that is enough for the next block', () => {
    expect(feesWithin(15n * GWEI * 100n, 100n, fees, QUOTE)).toEqual({ ...fees, maxFeePerGas: 15n * GWEI });
    expect(feesWithin(11n * GWEI * 100n, 100n, fees, QUOTE)).toBeNull();
  });
});

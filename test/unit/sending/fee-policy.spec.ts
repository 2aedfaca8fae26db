import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import { NO_FEES, type TxRequest } from '../../../src/modules/transactions/domain/tx-request.js';
import {
  atMarket,
  bumpedFees,
  feesWithin,
  initialFees,
  tooExpensive,
} from '../../../src/modules/sending/domain/fee-policy.js';

const GWEI = 1_000_000_000n;
const QUOTE: FeeQuote = {
  blockNumber: 1,
  hasBaseFee: true,
  congestedTip: 4n * GWEI,
  blobBaseFee: null,
  baseFeePerGas: 10n * GWEI,
  tips: { slow: GWEI, standard: 2n * GWEI, fast: 3n * GWEI, urgent: 5n * GWEI },
};
const CAPS = { maxFeePerGas: 10n ** 16n, maxPriorityFeePerGas: 10n ** 16n };

describe('fees of a first attempt', () => {
  it('are twice the base fee plus the tip of the speed', () => {
    expect(initialFees({ fees: NO_FEES, speed: 'fast' }, QUOTE, CAPS)).toEqual({
      maxFeePerGas: 23n * GWEI,
      maxPriorityFeePerGas: 3n * GWEI,
    });
  });

  it('are what the client said, where it said something', () => {
    const fees = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(initialFees({ fees: { ...NO_FEES, ...fees }, speed: 'slow' }, QUOTE, CAPS)).toEqual(fees);
  });

  it('are never above the caps of the chain, whoever chose them', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(price, price, price, price, (maxFeePerGas, maxPriorityFeePerGas, cap, tipCap) => {
        const caps = { maxFeePerGas: cap, maxPriorityFeePerGas: tipCap };
        const fees = initialFees(
          { fees: { ...NO_FEES, maxFeePerGas, maxPriorityFeePerGas }, speed: 'slow' },
          QUOTE,
          caps,
        );
        expect(fees.maxFeePerGas <= cap && fees.maxPriorityFeePerGas <= tipCap).toBe(true);
      }),
    );
  });

  it('are too dear when the market, or what the client asks for, is above the caps', () => {
    const caps = { maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(tooExpensive(atMarket('fast'), QUOTE, caps)).toBeNull();
    expect(tooExpensive(atMarket('urgent'), QUOTE, caps)).toContain('the tip');
    expect(tooExpensive(atMarket('fast'), { ...QUOTE, baseFeePerGas: 31n * GWEI }, caps)).toContain('the base fee');
    const low = { fees: { ...NO_FEES, maxFeePerGas: 9n * GWEI }, speed: 'slow' } as const;
    expect(tooExpensive(low, QUOTE, caps)).toContain('is below the base fee');
  });

  it('are too dear with the numbers that say why, and not where these are equal', () => {
    const caps = { maxFeePerGas: 30n, maxPriorityFeePerGas: 4n };
    const tips = { slow: 4n, standard: 4n, fast: 5n, urgent: 5n };
    const at = (baseFeePerGas: bigint) => ({ ...QUOTE, baseFeePerGas, tips });
    const own = (fees: Partial<TxRequest['fees']>) => ({ fees: { ...NO_FEES, ...fees }, speed: 'slow' }) as const;
    expect(tooExpensive(atMarket('slow'), at(30n), caps)).toBeNull();
    expect(tooExpensive(atMarket('slow'), at(31n), caps)).toBe(
      'the base fee 31 is above fees.maxFeePerGas 30 of the chain',
    );
    expect(tooExpensive(atMarket('fast'), at(30n), caps)).toBe(
      'the tip 5 is above fees.maxPriorityFeePerGas 4 of the chain',
    );
    expect(tooExpensive(own({ maxFeePerGas: 9n }), at(9n), caps)).toBeNull();
    expect(tooExpensive(own({ maxFeePerGas: 9n }), at(10n), caps)).toBe('maxFeePerGas 9 is below the base fee 10');
    expect(tooExpensive(own({ maxFeePerGas: 99n }), at(31n), caps)).toBe('maxFeePerGas 30 is below the base fee 31');
    expect(tooExpensive(own({ maxPriorityFeePerGas: 5n }), at(9n), caps)).toContain('the tip 5');
    expect(tooExpensive({ ...own({ maxPriorityFeePerGas: 3n }), speed: 'fast' }, at(9n), caps)).toBeNull();
  });

  it('never offer more than the cap of the chain by themselves, and never a tip above the fee cap', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(price, price, price, (baseFeePerGas, tip, cap) => {
        const quote = { ...QUOTE, baseFeePerGas, tips: { ...QUOTE.tips, urgent: tip } };
        const fees = initialFees({ fees: NO_FEES, speed: 'urgent' }, quote, { ...CAPS, maxFeePerGas: cap });
        expect(fees.maxFeePerGas <= cap).toBe(true);
        expect(fees.maxPriorityFeePerGas <= fees.maxFeePerGas).toBe(true);
      }),
    );
  });
});

describe('the gas price of a first attempt', () => {
  const PLAIN: FeeQuote = { ...QUOTE, hasBaseFee: false, baseFeePerGas: 0n };
  const priced = (fees: Partial<TxRequest['fees']>, quote = PLAIN, caps = CAPS) =>
    initialFees({ fees: { ...NO_FEES, ...fees }, speed: 'fast' }, quote, caps);
  const both = (price: bigint) => ({ maxFeePerGas: price, maxPriorityFeePerGas: price });

  it('is that of the speed on a chain without a base fee', () => {
    expect(priced({})).toEqual(both(3n * GWEI));
  });

  it('is what the client chose, on every chain', () => {
    expect(priced({ gasPrice: 7n })).toEqual(both(7n));
    expect(priced({ gasPrice: 20n * GWEI }, QUOTE)).toEqual(both(20n * GWEI));
  });

  it('is what fees of EIP-1559 mean where there is no base fee: the tip, up to the fee cap', () => {
    expect(priced({ maxPriorityFeePerGas: 9n * GWEI })).toEqual(both(9n * GWEI));
    expect(priced({ maxFeePerGas: 2n * GWEI })).toEqual(both(2n * GWEI));
    expect(priced({ maxFeePerGas: 50n * GWEI })).toEqual(both(3n * GWEI));
    expect(priced({ maxFeePerGas: 5n, maxPriorityFeePerGas: 4n })).toEqual(both(4n));
  });

  it('is not above the cap of the whole price, and is too dear when the market is; the cap of tips says nothing', () => {
    const caps = { maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: 1n };
    expect(priced({}, PLAIN, caps)).toEqual(both(2n * GWEI));
    expect(tooExpensive(atMarket('fast'), PLAIN, caps)).toBe(
      'the gas price 3000000000 is above fees.maxFeePerGas 2000000000 of the chain',
    );
    expect(tooExpensive(atMarket('standard'), PLAIN, caps)).toBeNull();
  });

  it('is too low when it is below the base fee', () => {
    const low = { fees: { ...NO_FEES, gasPrice: 9n * GWEI }, speed: 'slow' } as const;
    expect(tooExpensive(low, QUOTE, CAPS)).toBe('gasPrice 9000000000 is below the base fee 10000000000');
    expect(tooExpensive({ ...low, fees: { ...NO_FEES, gasPrice: 10n * GWEI } }, QUOTE, CAPS)).toBeNull();
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

describe('fees of a competitor at the caps of the chain', () => {
  const market = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const bumped = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
    bumpedFees({ maxFeePerGas, maxPriorityFeePerGas }, market, { maxFeePerGas: 90n, maxPriorityFeePerGas: 18n });

  it('are an eighth higher, rounded up, as long as both are within the caps', () => {
    expect(bumped(80n, 16n)).toEqual({ maxFeePerGas: 90n, maxPriorityFeePerGas: 18n });
    expect(bumped(9n, 1n)).toEqual({ maxFeePerGas: 11n, maxPriorityFeePerGas: 2n });
  });

  it('are none when one of them is above its cap', () => {
    expect(bumped(81n, 8n)).toBeNull();
    expect(bumped(40n, 17n)).toBeNull();
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
    expect(feesWithin(1125n * GWEI, 100n, fees, QUOTE)).toEqual({ ...fees, maxFeePerGas: (1125n * GWEI) / 100n });
  });

  it('have a tip that is not above them', () => {
    const steep = { maxFeePerGas: 24n * GWEI, maxPriorityFeePerGas: 20n * GWEI };
    expect(feesWithin(15n * GWEI * 100n, 100n, steep, QUOTE)).toEqual({
      maxFeePerGas: 15n * GWEI,
      maxPriorityFeePerGas: 15n * GWEI,
    });
  });
});

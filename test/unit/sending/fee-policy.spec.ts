import { aHash, aFeeQuote } from '../../support/builders.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import { NO_FEES, type TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { atMarket, feesWithin, initialFees, tooExpensive } from '../../../src/modules/sending/domain/fee-policy.js';

const GWEI = 1_000_000_000n;
const QUOTE = aFeeQuote({
  congestedTip: 4n * GWEI,
  baseFeePerGas: 10n * GWEI,
  tips: { slow: GWEI, standard: 2n * GWEI, fast: 3n * GWEI, urgent: 5n * GWEI },
});
const CAPS = { maxFeePerGas: 10n ** 16n, maxPriorityFeePerGas: 10n ** 16n, maxFeePerBlobGas: 10n ** 16n };

const BLOBS = { blobHashes: [aHash(1)] };

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
        const caps = { ...CAPS, maxFeePerGas: cap, maxPriorityFeePerGas: tipCap };
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
    const caps = { ...CAPS, maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 4n * GWEI };
    expect(tooExpensive(atMarket('fast'), QUOTE, caps)).toBeNull();
    expect(tooExpensive(atMarket('urgent'), QUOTE, caps)).toContain('the tip');
    expect(tooExpensive(atMarket('fast'), { ...QUOTE, baseFeePerGas: 31n * GWEI }, caps)).toContain('the base fee');
    const low = { fees: { ...NO_FEES, maxFeePerGas: 9n * GWEI }, speed: 'slow' } as const;
    expect(tooExpensive(low, QUOTE, caps)).toContain('is below the base fee');
  });

  it('are too dear with the numbers that say why, and not where these are equal', () => {
    const caps = { ...CAPS, maxFeePerGas: 30n, maxPriorityFeePerGas: 4n };
    const tips = { slow: 4n, standard: 4n, fast: 5n, urgent: 5n };
    const at = (baseFeePerGas: bigint) => ({ ...QUOTE, baseFeePerGas, tips });
    const own = (fees: Partial<TxRequest['fees']>) => ({ fees: { ...NO_FEES, ...fees }, speed: 'slow' }) as const;
    expect(tooExpensive(atMarket('slow'), at(30n), caps)).toBeNull();
    expect(tooExpensive(atMarket('slow'), at(31n), caps)).toBe(
      'the base fee 31 is above the configured fees.maxFeePerGas 30',
    );
    expect(tooExpensive(atMarket('fast'), at(30n), caps)).toBe(
      'the tip 5 is above the configured fees.maxPriorityFeePerGas 4',
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
    const caps = { ...CAPS, maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: 1n };
    expect(priced({}, PLAIN, caps)).toEqual(both(2n * GWEI));
    expect(tooExpensive(atMarket('fast'), PLAIN, caps)).toBe(
      'the gas price 3000000000 is above the configured fees.maxFeePerGas 2000000000',
    );
    expect(tooExpensive(atMarket('standard'), PLAIN, caps)).toBeNull();
  });

  it('is too low when it is below the base fee', () => {
    const low = { fees: { ...NO_FEES, gasPrice: 9n * GWEI }, speed: 'slow' } as const;
    expect(tooExpensive(low, QUOTE, CAPS)).toBe('gasPrice 9000000000 is below the base fee 10000000000');
    expect(tooExpensive({ ...low, fees: { ...NO_FEES, gasPrice: 10n * GWEI } }, QUOTE, CAPS)).toBeNull();
  });
});

describe('the blob fee of a first attempt', () => {
  const WITH_BLOBS: FeeQuote = { ...QUOTE, blobBaseFee: 7n };
  const blobFee = (maxFeePerBlobGas: bigint | null, quote = WITH_BLOBS, caps = CAPS) =>
    initialFees({ fees: { ...NO_FEES, maxFeePerBlobGas }, speed: 'slow', payload: BLOBS }, quote, caps)
      .maxFeePerBlobGas;
  const tooHigh = (maxFeePerBlobGas: bigint | null, caps = CAPS) =>
    tooExpensive({ fees: { ...NO_FEES, maxFeePerBlobGas }, speed: 'slow', payload: BLOBS }, WITH_BLOBS, caps);

  it('is twice the blob base fee, or what the client chose, up to the cap', () => {
    expect(blobFee(null)).toBe(14n);
    expect(blobFee(99n)).toBe(99n);
    expect(blobFee(99n, WITH_BLOBS, { ...CAPS, maxFeePerBlobGas: 50n })).toBe(50n);
    expect(blobFee(null, QUOTE)).toBe(2n);
  });

  it('is not there without blobs', () => {
    expect(initialFees(atMarket('slow'), WITH_BLOBS, CAPS)).not.toHaveProperty('maxFeePerBlobGas');
  });

  it('is too low or too dear with the numbers that say why', () => {
    expect(tooHigh(7n)).toBeNull();
    expect(tooHigh(6n)).toBe('maxFeePerBlobGas 6 is below the blob base fee 7');
    expect(tooHigh(null, { ...CAPS, maxFeePerBlobGas: 6n })).toBe(
      'the blob base fee 7 is above the configured fees.maxFeePerBlobGas 6',
    );
    expect(tooExpensive(atMarket('slow'), WITH_BLOBS, { ...CAPS, maxFeePerBlobGas: 6n })).toBeNull();
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

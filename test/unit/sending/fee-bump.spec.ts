import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeCaps } from '../../../src/modules/chain/index.js';
import {
  type BumpBasis,
  bumpedFees,
  isAboveMarket,
  isNoBetter,
  requestCaps,
} from '../../../src/modules/sending/domain/fee-bump.js';
import type { AttemptFees, TxType } from '../../../src/modules/ledger/domain/attempt.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';
import { aFeeQuote } from '../../support/builders.js';

const GWEI = 1_000_000_000n;
const NO_CAPS: FeeCaps = {
  maxFeePerGas: 10n ** 30n,
  maxPriorityFeePerGas: 10n ** 30n,
  maxFeePerBlobGas: 10n ** 30n,
};
const NOTHING: AttemptFees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): AttemptFees => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
});

function bump(rival: AttemptFees | null, others: Partial<BumpBasis> = {}): AttemptFees | string {
  const basis = { market: NOTHING, caps: NO_CAPS, type: 2, demanded: null, baseFeePerGas: 0n, ...others } as const;
  const bumped = bumpedFees({ ...basis, rival });
  return bumped.kind === 'fees' ? bumped.fees : bumped.kind;
}

/** What pools demand of a replacement: geth and reth more than before, and so many percent more, rounded down. */
function isAcceptedBy(percent: bigint, before: bigint, after: bigint): boolean {
  return after > before && after >= (before * (100n + percent)) / 100n;
}

const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
const someFees = fc
  .record({ maxFeePerGas: price, maxPriorityFeePerGas: price, maxFeePerBlobGas: price })
  .map((each): AttemptFees => ({
    ...each,
    maxPriorityFeePerGas: each.maxPriorityFeePerGas < each.maxFeePerGas ? each.maxPriorityFeePerGas : each.maxFeePerGas,
  }));

describe('a bump', () => {
  it('is an eighth more, rounded up, on both fields', () => {
    expect(bump(fees(80n, 16n))).toEqual(fees(90n, 18n));
    expect(bump(fees(9n, 1n))).toEqual(fees(11n, 2n));
    expect(bump(fees(9n, 0n))).toEqual(fees(11n, 1n));
  });

  it('is accepted by every pool that demands 12.5 % on both fields, and is not below the market', () => {
    fc.assert(
      fc.property(someFees, someFees, fc.constantFrom<TxType>(0, 1, 2, 4), (rival, market, type) => {
        const bumped = bump(rival, { market, type });
        if (typeof bumped === 'string') throw new Error(bumped);
        for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(isAcceptedBy(12n, rival[name], bumped[name])).toBe(true);
          expect(bumped[name] * 8n >= rival[name] * 9n).toBe(true);
        }
        expect(bumped.maxFeePerGas >= market.maxFeePerGas).toBe(true);
        expect(bumped.maxPriorityFeePerGas <= bumped.maxFeePerGas).toBe(true);
      }),
    );
  });

  it('of blobs is accepted by every pool that demands 100 % on each field', () => {
    fc.assert(
      fc.property(someFees, someFees, (rival, market) => {
        const bumped = bump(rival, { market, type: 3 });
        if (typeof bumped === 'string') throw new Error(bumped);
        for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFeePerBlobGas'] as const)
          expect(isAcceptedBy(100n, rival[name] ?? 0n, bumped[name] ?? 0n)).toBe(true);
      }),
    );
  });

  it('is never above a cap, and always possible where an eighth more fits', () => {
    const caps = fc.record({ maxFeePerGas: price, maxPriorityFeePerGas: price, maxFeePerBlobGas: price });
    const type = fc.constantFrom<TxType>(0, 1, 2, 3, 4);
    fc.assert(
      fc.property(someFees, someFees, caps, type, (rival, market, limits, kind) => {
        const bumped = bump(rival, { market, caps: limits, type: kind });
        if (typeof bumped === 'string') {
          const least = bump(rival, { type: kind });
          if (typeof least === 'string') throw new Error(least);
          const isAbove =
            least.maxFeePerGas > limits.maxFeePerGas ||
            (kind > 1 && least.maxPriorityFeePerGas > limits.maxPriorityFeePerGas) ||
            (least.maxFeePerBlobGas ?? 0n) > limits.maxFeePerBlobGas;
          expect(isAbove).toBe(true);
          return;
        }
        expect(bumped.maxFeePerGas <= limits.maxFeePerGas).toBe(true);
        expect(kind < 2 || bumped.maxPriorityFeePerGas <= limits.maxPriorityFeePerGas).toBe(true);
        expect((bumped.maxFeePerBlobGas ?? 0n) <= limits.maxFeePerBlobGas).toBe(true);
      }),
    );
  });

  it('takes of a market above the caps what the caps allow', () => {
    const caps = { ...NO_CAPS, maxFeePerGas: 100n, maxPriorityFeePerGas: 20n };
    expect(bump(fees(80n, 16n), { market: fees(500n, 50n), caps })).toEqual(fees(100n, 20n));
    expect(bump(fees(89n, 16n), { market: fees(500n, 50n), caps })).toBe('capped');
    expect(bump(fees(80n, 18n), { market: fees(500n, 50n), caps })).toBe('capped');
  });

  it('of a transaction with one price raises this price, above both prices of its rival', () => {
    for (const type of [0, 1] as const) {
      expect(bump(fees(80n, 80n), { type })).toEqual(fees(90n, 90n));
      expect(bump(fees(80n, 16n), { type, market: fees(120n, 120n) })).toEqual(fees(120n, 120n));
      expect(bump(fees(80n, 80n), { type, caps: { ...NO_CAPS, maxPriorityFeePerGas: 1n } })).toEqual(fees(90n, 90n));
    }
  });

  it('is the market where nothing must be outbid', () => {
    expect(bump(null, { market: fees(80n, 16n) })).toEqual(fees(80n, 16n));
  });
});

describe('a bump after a refusal', () => {
  it('is what the node demanded, where that is more', () => {
    expect(bump(fees(80n, 16n), { demanded: { maxFeePerGas: 200n } })).toEqual(fees(200n, 18n));
    expect(bump(fees(80n, 16n), { demanded: { maxFeePerGas: 85n } })).toEqual(fees(90n, 18n));
    const blobs = { maxFeePerBlobGas: 40n };
    expect(bump({ ...fees(80n, 16n), maxFeePerBlobGas: 4n }, { type: 3, demanded: blobs })).toMatchObject(blobs);
  });

  it('lets a tip that was demanded be paid in full in the next block', () => {
    expect(bump(fees(80n, 16n), { demanded: { maxPriorityFeePerGas: 100n }, baseFeePerGas: 30n })).toEqual(
      fees(130n, 100n),
    );
    expect(bump(fees(80n, 80n), { type: 0, demanded: { maxPriorityFeePerGas: 100n } })).toEqual(fees(100n, 100n));
  });

  it('is none where the demand is above the caps', () => {
    const caps = { ...NO_CAPS, maxFeePerGas: 199n };
    expect(bump(fees(80n, 16n), { demanded: { maxFeePerGas: 200n }, caps })).toBe('capped');
  });

  it('follows an absurd demand by a factor of ten at a time', () => {
    const absurd = { maxFeePerGas: 10n ** 25n, maxPriorityFeePerGas: 10n ** 25n };
    expect(bump(fees(5n * GWEI, 2n * GWEI), { demanded: absurd })).toEqual(fees(50n * GWEI, 20n * GWEI));
    expect(bump(fees(8n, 8n), { demanded: absurd })).toEqual(fees(10n * GWEI, 10n * GWEI));
    expect(bump(null, { market: fees(8n, 8n), demanded: absurd })).toEqual(fees(10n * GWEI, 10n * GWEI));
  });
});

describe('the caps of a request', () => {
  const caps: FeeCaps = { maxFeePerGas: 400n, maxPriorityFeePerGas: 50n, maxFeePerBlobGas: 30n };
  const before = { ...fees(80n, 16n), maxFeePerBlobGas: 4n };

  it('are those of the config for what it leaves to Lockstep', () => {
    expect(requestCaps(caps, NO_FEES, before)).toEqual(caps);
  });

  it('are its own fees, each for itself, and never above the config', () => {
    expect(requestCaps(caps, { ...NO_FEES, maxFeePerGas: 100n }, before)).toEqual({ ...caps, maxFeePerGas: 100n });
    expect(requestCaps(caps, { ...NO_FEES, maxPriorityFeePerGas: 99n }, before)).toEqual(caps);
    expect(requestCaps(caps, { ...NO_FEES, maxFeePerBlobGas: 9n }, before)).toEqual({ ...caps, maxFeePerBlobGas: 9n });
  });

  it('are the gas price for both parts of a price', () => {
    expect(requestCaps(caps, { ...NO_FEES, gasPrice: 45n }, fees(45n, 45n))).toEqual({
      ...caps,
      maxFeePerGas: 45n,
      maxPriorityFeePerGas: 45n,
    });
  });

  it('are the highest attempt so far where a command of the client paid more', () => {
    const asked = { ...NO_FEES, maxFeePerGas: 50n, maxPriorityFeePerGas: 5n, maxFeePerBlobGas: 1n };
    expect(requestCaps(caps, asked, before)).toEqual(before);
  });
});

describe('a price is above the market', () => {
  const quote = aFeeQuote({ baseFeePerGas: 80n, congestedTip: 5n, blobBaseFee: 7n });

  it('when it pays the base fee of the next block and the 90th percentile of the tips', () => {
    expect(isAboveMarket(fees(85n, 5n), quote)).toBe(true);
    expect(isAboveMarket(fees(84n, 5n), quote)).toBe(false);
    expect(isAboveMarket(fees(85n, 4n), quote)).toBe(false);
  });

  it('and when its blobs pay their base fee', () => {
    expect(isAboveMarket({ ...fees(85n, 5n), maxFeePerBlobGas: 7n }, quote)).toBe(true);
    expect(isAboveMarket({ ...fees(85n, 5n), maxFeePerBlobGas: 6n }, quote)).toBe(false);
    expect(isAboveMarket({ ...fees(85n, 5n), maxFeePerBlobGas: 6n }, { ...quote, blobBaseFee: null })).toBe(true);
  });
});

it('a price is no better than another when no part of it is', () => {
  expect(isNoBetter(fees(8n, 2n), fees(8n, 2n))).toBe(true);
  expect(isNoBetter(fees(9n, 1n), fees(8n, 2n))).toBe(false);
  expect(isNoBetter(fees(1n, 3n), fees(8n, 2n))).toBe(false);
  expect(isNoBetter({ ...fees(1n, 1n), maxFeePerBlobGas: 1n }, fees(8n, 2n))).toBe(false);
});

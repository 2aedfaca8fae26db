import { expect, it } from '@jest/globals';
import { marketPrice, priceFacts } from '../../../src/modules/ops/domain/prices.js';
import { aFeeQuote } from '../../support/builders.js';

const QUOTE = aFeeQuote({ baseFeePerGas: 100n });
const price = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas });

it('the market asks for twice the base fee and the tip of the speed, or on a chain without base fee for its gas price', () => {
  expect(marketPrice(QUOTE, 'fast')).toEqual(price(203n, 3n));
  expect(marketPrice({ ...QUOTE, hasBaseFee: false, baseFeePerGas: 0n }, 'fast')).toEqual(price(3n, 3n));
});

it.each([
  ['pays the congested tip', price(104n, 4n), true],
  ['pays a lower tip', price(999n, 3n), false],
  ['has a fee cap that leaves less for the tip', price(103n, 4n), false],
])('an attempt that %s is above the market: %s %s', (_what, attempt, aboveMarket) => {
  expect(priceFacts(QUOTE, 'slow', [attempt])).toEqual({
    highestAttempt: attempt,
    market: price(201n, 1n),
    congestedTip: 4n,
    aboveMarket,
  });
});

it('of several attempts the highest of both prices counts, and without one nothing is compared', () => {
  expect(priceFacts(QUOTE, 'slow', [price(9n, 2n), price(8n, 3n)]).highestAttempt).toEqual(price(9n, 3n));
  expect(priceFacts(QUOTE, 'slow', [])).toMatchObject({ highestAttempt: null, aboveMarket: null });
});

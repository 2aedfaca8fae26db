import { beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import { ChainRules } from '../../../src/modules/transactions/application/chain-rules.js';
import { FeeRules } from '../../../src/modules/transactions/application/fee-rules.js';
import { aRequest, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const GWEI = 1_000_000_000n;
const GAS = 1_000_000n;
const KNOWN_MS = 600_000;
const QUOTE: FeeQuote = {
  blockNumber: 1,
  baseFeePerGas: 10n * GWEI,
  tips: { slow: GWEI, standard: GWEI, fast: 2n * GWEI, urgent: 3n * GWEI },
};
const CAPS = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 20n * GWEI };

let clock: FakeClock;
let rules: FeeRules;

beforeEach(() => {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        fees: { maxFeePerGas: `${CAPS.maxFeePerGas}`, maxPriorityFeePerGas: `${CAPS.maxPriorityFeePerGas}` },
      },
    ],
  });
  clock = new FakeClock();
  rules = new FeeRules(new ChainRules(config, config.confirmations), clock);
});

/** The fee cap of a payload of the chain; null when it is too dear. */
function offered(): bigint | null {
  const priced = rules.price(DEV_CHAIN, aRequest(), GAS, QUOTE);
  return 'fees' in priced ? priced.fees.maxFeePerGas : null;
}

function learn(wei: bigint): void {
  rules.learnLimit(DEV_CHAIN, `tx fee (9 ether) exceeds the configured cap (${wei} wei)`);
}

describe('what the nodes allow for a transaction', () => {
  const MARKET = 21n * GWEI;

  it('lowers the price of a payload for ten minutes, and then the market counts again', () => {
    expect(offered()).toBe(MARKET);
    learn(GAS * 15n * GWEI);
    expect(offered()).toBe(15n * GWEI);
    clock.advance(KNOWN_MS - 1);
    expect(offered()).toBe(15n * GWEI);
    clock.advance(1);
    expect(offered()).toBe(MARKET);
  });

  it('is the lowest that any of them said', () => {
    learn(GAS * 15n * GWEI);
    learn(GAS * 18n * GWEI);
    expect(offered()).toBe(15n * GWEI);
    learn(GAS * 13n * GWEI);
    expect(offered()).toBe(13n * GWEI);
  });

  it('is not learned from words without a number', () => {
    rules.learnLimit(DEV_CHAIN, 'Transaction fee cap exceeded');
    expect(offered()).toBe(MARKET);
  });

  it('makes a payload too dear when the next block might not take what fits, unless it holds a nonce already', () => {
    learn(GAS * 11n * GWEI);
    expect(rules.price(DEV_CHAIN, aRequest(), GAS, QUOTE)).toMatchObject({ limitedBy: 'node' });
    expect(rules.clamped(DEV_CHAIN, aRequest(), GAS, QUOTE).maxFeePerGas).toBe(MARKET);
  });
});

describe('the price of a no-op', () => {
  it('is the market when nothing competes', () => {
    expect(rules.noOp(DEV_CHAIN, QUOTE, null)).toEqual({ maxFeePerGas: 22n * GWEI, maxPriorityFeePerGas: 2n * GWEI });
  });

  it('outbids what competes', () => {
    const rival = { maxFeePerGas: 80n * GWEI, maxPriorityFeePerGas: 8n * GWEI };
    expect(rules.noOp(DEV_CHAIN, QUOTE, rival)).toEqual({
      maxFeePerGas: 90n * GWEI,
      maxPriorityFeePerGas: 9n * GWEI,
    });
  });

  it('is at the caps when they do not allow that: what competes may be in no pool', () => {
    const rival = { maxFeePerGas: 99n * GWEI, maxPriorityFeePerGas: 8n * GWEI };
    expect(rules.noOp(DEV_CHAIN, QUOTE, rival)).toEqual(CAPS);
  });

  it('is none when the market is above the caps', () => {
    expect(rules.noOp(DEV_CHAIN, { ...QUOTE, baseFeePerGas: 101n * GWEI }, null)).toBeNull();
  });
});

describe('another price for a payload that every node refused', () => {
  const REFUSED = { maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: 4n * GWEI };

  it('is higher by an eighth', () => {
    expect(rules.higher(DEV_CHAIN, REFUSED, aRequest(), QUOTE)).toEqual({
      maxFeePerGas: 45n * GWEI,
      maxPriorityFeePerGas: (9n * GWEI) / 2n,
    });
  });

  it.each([
    ['fee cap', { maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: null }],
    ['tip', { maxFeePerGas: null, maxPriorityFeePerGas: 4n * GWEI }],
  ])('is never higher than what the client said: %s', (_field, fees) => {
    expect(rules.higher(DEV_CHAIN, REFUSED, aRequest({ fees }), QUOTE)).toBeNull();
  });

  it('is lower by a quarter, and none when the next block might not take that', () => {
    expect(rules.lower(REFUSED, GAS, QUOTE)?.maxFeePerGas).toBe(30n * GWEI);
    expect(rules.lower({ ...REFUSED, maxFeePerGas: 14n * GWEI }, GAS, QUOTE)).toBeNull();
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import type { FeeQuote } from '../../../src/modules/chain/index.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';
import { FeeRules } from '../../../src/modules/sending/application/fee-rules.js';
import { atMarket } from '../../../src/modules/sending/domain/fee-policy.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { NO_FEES } from '../../../src/modules/transactions/domain/tx-request.js';

const GAS = 1_000n;
const QUOTE: FeeQuote = {
  blockNumber: 1,
  hasBaseFee: true,
  congestedTip: 50n,
  blobBaseFee: null,
  baseFeePerGas: 80n,
  tips: { slow: 10n, standard: 20n, fast: 40n, urgent: 60n },
};
/** Twice the base fee, and the tip. */
const STANDARD = { maxFeePerGas: 180n, maxPriorityFeePerGas: 20n };
const FAST = { maxFeePerGas: 200n, maxPriorityFeePerGas: 40n };
const CAPS = { maxFeePerGas: 400n, maxPriorityFeePerGas: 50n };

let clock: FakeClock;
let rules: FeeRules;

beforeEach(() => {
  clock = new FakeClock();
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        fees: { maxFeePerGas: '400', maxPriorityFeePerGas: '50' },
      },
    ],
  });
  rules = new FeeRules(new ChainRules(config, config.confirmations), clock);
});

/** What geth says; `wei` of all the gas of a transaction. */
function learnLimit(wei: bigint): void {
  rules.learnLimit(DEV_CHAIN, `tx fee (1.20 ether) exceeds the configured cap (${wei} wei)`);
}

const price = () => rules.price(DEV_CHAIN, atMarket('standard'), GAS, QUOTE);

describe('the price of a payload', () => {
  it('is the price of the market', () => {
    expect(price()).toEqual({ fees: STANDARD });
  });

  it('is none when the market is above the caps of the chain', () => {
    expect(rules.price(DEV_CHAIN, atMarket('urgent'), GAS, QUOTE)).toEqual({
      tooExpensive: 'the tip 60 is above fees.maxPriorityFeePerGas 50 of the chain',
      limitedBy: 'chain',
    });
  });

  it('is what a node allows for all the gas, where that is less', () => {
    learnLimit(150_000n);
    expect(price()).toEqual({ fees: { maxFeePerGas: 150n, maxPriorityFeePerGas: 20n } });
  });

  it('is none when a node allows less than the next block may cost', () => {
    learnLimit(50_000n);
    expect(price()).toEqual({
      tooExpensive: 'the cost of all its gas is above the 50000 wei that the nodes allow for a transaction',
      limitedBy: 'node',
    });
  });

  it('heeds the lowest of the limits that nodes named, and what names none changes nothing', () => {
    learnLimit(150_000n);
    learnLimit(120_000n);
    learnLimit(160_000n);
    rules.learnLimit(DEV_CHAIN, 'tx fee exceeds the configured cap');
    expect(price()).toEqual({ fees: { maxFeePerGas: 120n, maxPriorityFeePerGas: 20n } });
  });

  it('heeds a limit on its own chain only, and for ten minutes, as an operator may raise it', () => {
    rules.learnLimit(DEV_CHAIN + 1, 'cap (1 wei)');
    learnLimit(150_000n);
    clock.advance(599_999);
    expect(price()).toEqual({ fees: { maxFeePerGas: 150n, maxPriorityFeePerGas: 20n } });
    clock.advance(1);
    expect(price()).toEqual({ fees: STANDARD });
    learnLimit(160_000n);
    expect(price()).toEqual({ fees: { maxFeePerGas: 160n, maxPriorityFeePerGas: 20n } });
  });
});

describe('the price of a payload that must be signed now', () => {
  it('is the price of any payload', () => {
    learnLimit(150_000n);
    const fees = rules.clamped(DEV_CHAIN, atMarket('standard'), GAS, QUOTE);
    expect(fees).toEqual({ maxFeePerGas: 150n, maxPriorityFeePerGas: 20n });
  });

  it('is the caps of the chain when the market is above them', () => {
    const fees = rules.clamped(DEV_CHAIN, atMarket('urgent'), GAS, { ...QUOTE, baseFeePerGas: 500n });
    expect(fees).toEqual(CAPS);
  });
});

describe('the price of a no-op', () => {
  it('is that of a fast transaction, because everything behind it waits', () => {
    expect(rules.noOp(DEV_CHAIN, QUOTE, null)).toEqual(FAST);
  });

  it('outbids its rival by an eighth', () => {
    const rival = { maxFeePerGas: 320n, maxPriorityFeePerGas: 40n };
    expect(rules.noOp(DEV_CHAIN, QUOTE, rival)).toEqual({ maxFeePerGas: 360n, maxPriorityFeePerGas: 45n });
  });

  it('is the caps of the chain when these do not let it outbid its rival', () => {
    expect(rules.noOp(DEV_CHAIN, QUOTE, { maxFeePerGas: 390n, maxPriorityFeePerGas: 40n })).toEqual(CAPS);
  });

  it('is none when the market is above the caps', () => {
    expect(rules.noOp(DEV_CHAIN, { ...QUOTE, baseFeePerGas: 401n }, null)).toBeNull();
  });
});

describe('the next price of a payload that every node refused', () => {
  it('is a quarter less when it was too dear, and none when that is too low for the next block', () => {
    const dear = { maxFeePerGas: 200n, maxPriorityFeePerGas: 160n };
    expect(rules.lower(dear, GAS, QUOTE)).toEqual({ maxFeePerGas: 150n, maxPriorityFeePerGas: 150n });
    expect(rules.lower({ ...dear, maxFeePerGas: 100n }, GAS, QUOTE)).toBeNull();
  });

  it('is an eighth more when it was too cheap, or the market', () => {
    const cheap = { maxFeePerGas: 320n, maxPriorityFeePerGas: 40n };
    expect(rules.higher(DEV_CHAIN, cheap, atMarket('standard'), QUOTE)).toEqual({
      maxFeePerGas: 360n,
      maxPriorityFeePerGas: 45n,
    });
    const cheapest = { maxFeePerGas: 8n, maxPriorityFeePerGas: 8n };
    expect(rules.higher(DEV_CHAIN, cheapest, atMarket('fast'), QUOTE)).toEqual(FAST);
  });

  it('is none when the caps of the chain, or its client, do not allow more', () => {
    const atTheTop = { maxFeePerGas: 390n, maxPriorityFeePerGas: 40n };
    expect(rules.higher(DEV_CHAIN, atTheTop, atMarket('standard'), QUOTE)).toBeNull();
    for (const own of [{ maxFeePerGas: 100n }, { maxPriorityFeePerGas: 5n }]) {
      const fees = { ...NO_FEES, ...own };
      expect(rules.higher(DEV_CHAIN, STANDARD, { fees, speed: 'standard' }, QUOTE)).toBeNull();
    }
  });
});

it('a tip at the caps is never above the fee', () => {
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [
      { id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], fees: { maxFeePerGas: '90', maxPriorityFeePerGas: '95' } },
    ],
  });
  const tight = new FeeRules(new ChainRules(config, config.confirmations), clock);
  const rival = { maxFeePerGas: 90n, maxPriorityFeePerGas: 1n };
  expect(tight.noOp(DEV_CHAIN, QUOTE, rival)).toEqual({ maxFeePerGas: 90n, maxPriorityFeePerGas: 90n });
});

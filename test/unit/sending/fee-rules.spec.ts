import { beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';
import type { FeeCaps, FeeQuote } from '../../../src/modules/chain/index.js';
import { FeeRules, type SlotToBump } from '../../../src/modules/sending/application/fee-rules.js';
import { atMarket } from '../../../src/modules/sending/domain/fee-policy.js';
import { SignerFeeCaps } from '../../../src/modules/ledger/application/signer-fee-caps.js';
import type { Attempt, AttemptFees } from '../../../src/modules/ledger/domain/attempt.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';
import { anAttempt, aSigner, DEV_CHAIN, aFeeQuote, FREE_QUOTE } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { NO_POLICIES } from '../../support/fakes/no-policies.js';

const GAS = 1_000n;
const QUOTE = aFeeQuote({
  baseFeePerGas: 80n,
  congestedTip: 50n,
  tips: { slow: 10n, standard: 20n, fast: 40n, urgent: 60n },
});
const PLAIN: FeeQuote = { ...QUOTE, hasBaseFee: false, baseFeePerGas: 0n };
const SIGNER = aSigner();
/** Twice the base fee, and the tip. */
const STANDARD = { maxFeePerGas: 180n, maxPriorityFeePerGas: 20n };
const FAST = { maxFeePerGas: 200n, maxPriorityFeePerGas: 40n };
const CAPS = { maxFeePerGas: 400n, maxPriorityFeePerGas: 50n };

let clock: FakeClock;
let rules: FeeRules;

beforeEach(() => {
  clock = new FakeClock();
  rules = rulesWith(CAPS);
});

function rulesWith(caps: Pick<FeeCaps, 'maxFeePerGas' | 'maxPriorityFeePerGas'>): FeeRules {
  const fees = {
    maxFeePerGas: caps.maxFeePerGas.toString(),
    maxPriorityFeePerGas: caps.maxPriorityFeePerGas.toString(),
    maxFeePerBlobGas: '30',
  };
  const config = configFrom({
    database: { url: 'postgres://nobody@localhost/none' },
    chains: [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], fees }],
  });
  return new FeeRules(new SignerFeeCaps(new ChainRules(config), NO_POLICIES, new KeysOf([])), clock);
}

/** What geth says; `wei` of all the gas of a transaction. */
function learnLimit(wei: bigint): void {
  rules.learnLimit(DEV_CHAIN, `tx fee (1.20 ether) exceeds the configured cap (${wei} wei)`);
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): AttemptFees => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
});
const out = (price: AttemptFees, others: Partial<Attempt> = {}): Attempt =>
  anAttempt({ status: 'ACCEPTED', fees: price, ...others });
const tooCheap = (price: AttemptFees): Attempt =>
  anAttempt({ status: 'REJECTED', errorClass: 'underpriced', fees: price });

const item = (speed: Parameters<typeof atMarket>[0]) => ({ signer: SIGNER, request: atMarket(speed), gasLimit: GAS });
const price = () => rules.price(rules.capsFor(SIGNER), item('standard'), QUOTE);

describe('the price of a payload', () => {
  it('is the price of the market', () => {
    expect(price()).toEqual({ fees: STANDARD });
  });

  it('is none when the market is above the caps of the chain', () => {
    expect(rules.price(rules.capsFor(SIGNER), item('urgent'), QUOTE)).toEqual({
      tooExpensive: 'the tip 60 is above the configured fees.maxPriorityFeePerGas 50',
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
    const clamped = rules.clamped(rules.capsFor(SIGNER), item('standard'), QUOTE);
    expect(clamped).toEqual({ maxFeePerGas: 150n, maxPriorityFeePerGas: 20n });
  });

  it('is the caps of the chain when the market is above them', () => {
    const clamped = rules.clamped(rules.capsFor(SIGNER), item('urgent'), { ...QUOTE, baseFeePerGas: 500n });
    expect(clamped).toEqual(CAPS);
  });
});

describe('the price of a no-op', () => {
  it('is that of a fast transaction, because everything behind it waits', () => {
    expect(rules.noOp(SIGNER, QUOTE, [], GAS)).toEqual(FAST);
    expect(rules.noOp(SIGNER, PLAIN, [], GAS)).toEqual(fees(40n, 40n));
  });

  it('outbids its rival by an eighth', () => {
    expect(rules.noOp(SIGNER, QUOTE, [out(fees(320n, 40n))], GAS)).toEqual(fees(360n, 45n));
  });

  it('outbids a rival with blobs by twice its price, blobs included', () => {
    const rival = out({ ...fees(150n, 20n), maxFeePerBlobGas: 8n }, { type: 3 });
    expect(rules.noOp(SIGNER, QUOTE, [rival], GAS)).toEqual({ ...fees(300n, 40n), maxFeePerBlobGas: 16n });
    // Its blobs cost what the market asks for, like its gas.
    const dear = { ...QUOTE, blobBaseFee: 12n };
    expect(rules.noOp(SIGNER, dear, [rival], GAS)).toEqual({ ...fees(300n, 40n), maxFeePerBlobGas: 24n });
  });

  it('is higher than that of a no-op which was refused as too cheap to replace what is out', () => {
    const refused = anAttempt({ kind: 'cancel', status: 'UNKNOWN', errorClass: 'replacement_underpriced' });
    const attempts = [out(fees(100n, 10n)), { ...refused, fees: fees(200n, 40n) }];
    expect(rules.noOp(SIGNER, QUOTE, attempts, GAS)).toEqual(fees(225n, 45n));
    expect(rules.noOp(SIGNER, QUOTE, [out(fees(100n, 10n)), tooCheap(fees(200n, 40n))], GAS)).toEqual(fees(225n, 45n));
  });

  it('is what a node demanded when the last one was too cheap', () => {
    const refusal = 'transaction underpriced: gas tip cap 40, minimum needed 48';
    expect(rules.noOp(SIGNER, QUOTE, [tooCheap(fees(200n, 40n))], GAS, refusal)).toEqual(fees(200n, 48n));
  });

  it('is the caps of the chain when these do not let it outbid its rival', () => {
    expect(rules.noOp(SIGNER, QUOTE, [out(fees(390n, 40n))], GAS)).toEqual(CAPS);
    expect(rules.noOp(SIGNER, PLAIN, [out(fees(390n, 390n), { type: 0 })], GAS)).toEqual(fees(400n, 400n));
    const withBlobs = out({ ...fees(390n, 40n), maxFeePerBlobGas: 4n }, { type: 3 });
    expect(rules.noOp(SIGNER, QUOTE, [withBlobs], GAS)).toEqual({ ...CAPS, maxFeePerBlobGas: 30n });
  });

  it('is none when a no-op was refused at the caps, too', () => {
    const noOp = { ...tooCheap(CAPS), kind: 'cancel' } as const;
    expect(rules.noOp(SIGNER, QUOTE, [out(fees(390n, 40n)), noOp], GAS)).toBeNull();
  });

  it('is that of the caps when only a payload was refused with them: what was said of the payload need not be true', () => {
    expect(rules.noOp(SIGNER, QUOTE, [{ ...tooCheap(CAPS), status: 'UNKNOWN' }], GAS)).toEqual(CAPS);
  });

  it('is of the type of what is out', () => {
    expect(rules.noOp(SIGNER, QUOTE, [out(fees(390n, 390n), { type: 0 })], GAS)).toEqual(fees(400n, 400n));
  });

  it('is as high as the caps allow when the market is above them, in its tip or in its base fee', () => {
    expect(rules.noOp(SIGNER, { ...QUOTE, baseFeePerGas: 401n }, [], GAS)).toMatchObject({
      maxFeePerGas: CAPS.maxFeePerGas,
    });
    const tips = { ...QUOTE.tips, fast: CAPS.maxPriorityFeePerGas + 1n };
    expect(rules.noOp(SIGNER, { ...QUOTE, tips }, [], GAS)).toMatchObject({
      maxPriorityFeePerGas: CAPS.maxPriorityFeePerGas,
    });
  });
});

describe('where gas is free', () => {
  const FREE = fees(0n, 0n);
  const payload = out(FREE);
  const next = (forGas: bigint | null, attempts: readonly Attempt[] = [payload]) =>
    rules.bumped(
      { signer: SIGNER, request: atMarket('standard'), attempts, type: 2, gasLimit: GAS, forGas, because: 'forced' },
      FREE_QUOTE,
    );

  it('what is out is outbid by a wei per gas, and not when the account cannot pay that', () => {
    expect([next(null), next(GAS)]).toEqual([
      { kind: 'fees', fees: fees(1n, 1n) },
      { kind: 'fees', fees: fees(1n, 1n) },
    ]);
    expect([next(GAS - 1n), next(-5n)]).toEqual([{ kind: 'unaffordable' }, { kind: 'unaffordable' }]);
  });

  it('nothing has to be paid when no pool has an attempt', () => {
    expect(next(0n, [{ ...payload, status: 'REJECTED', errorClass: 'txpool_full' }])).toEqual({
      kind: 'fees',
      fees: FREE,
    });
  });

  it('it is not raised by a timer', () => {
    const slot = { signer: SIGNER, request: null, attempts: [payload], type: 2, gasLimit: GAS, forGas: 0n } as const;
    expect(rules.bumped({ ...slot, because: 'timer' }, FREE_QUOTE)).toEqual({ kind: 'above_market' });
  });

  it('a no-op is free, too, when the account cannot pay; and the same one is signed once', () => {
    expect(rules.noOp(SIGNER, FREE_QUOTE, [payload], GAS, null, GAS)).toEqual(fees(1n, 1n));
    expect(rules.noOp(SIGNER, FREE_QUOTE, [payload], GAS, null, 0n)).toEqual(FREE);
    const refused = { errorClass: 'replacement_underpriced', status: 'UNKNOWN' } as const;
    const noOp = out(FREE, { kind: 'cancel', ...refused });
    expect(rules.noOp(SIGNER, FREE_QUOTE, [payload, noOp], GAS, 'underpriced', 0n)).toBeNull();
  });
});

describe('the next gas price of a slot', () => {
  const after = (gasPrice: bigint) => {
    const attempts = [out(fees(gasPrice, gasPrice), { type: 0, errorClass: 'replacement_underpriced' })];
    const because = { refusal: 'replacement transaction underpriced' };
    const request = { ...atMarket('standard'), fees: { ...NO_FEES, gasPrice: 390n } };
    return rules.bumped({ signer: SIGNER, request, attempts, type: 0, gasLimit: GAS, because }, QUOTE);
  };

  it('goes up with refusals until what is above the base fee is twice the most urgent tip', () => {
    expect(after(200n)).toEqual({ kind: 'fees', fees: fees(390n, 390n) });
    expect(after(201n)).toEqual({ kind: 'above_market' });
  });
});

describe('the next price of a slot', () => {
  it('is what a client wants to pay at least, of one price and of several', () => {
    const wants = { atLeast: fees(390n, 390n), because: 'forced' } as const;
    expect(bumped([out(fees(100n, 10n))], wants)).toEqual({ kind: 'fees', fees: fees(390n, 50n) });
    const onePrice = { ...wants, type: 0 } as const;
    expect(bumped([out(fees(100n, 100n), { type: 0 })], onePrice, PLAIN)).toEqual({
      kind: 'fees',
      fees: fees(390n, 390n),
    });
    expect(bumped([], onePrice, PLAIN)).toEqual({ kind: 'fees', fees: fees(390n, 390n) });
  });

  const bumped = (attempts: readonly Attempt[], others: Partial<SlotToBump> = {}, quote = QUOTE) =>
    rules.bumped(
      { signer: SIGNER, request: atMarket('standard'), attempts, type: 2, gasLimit: GAS, because: 'timer', ...others },
      quote,
    );

  it('is an eighth more than the highest of each part, or the market', () => {
    expect(bumped([out(fees(320n, 16n)), out(fees(300n, 40n))])).toEqual({ kind: 'fees', fees: fees(360n, 45n) });
    expect(bumped([out(fees(8n, 8n))], { request: atMarket('fast') })).toEqual({ kind: 'fees', fees: FAST });
  });

  it('is the market where the slot has no attempt', () => {
    expect(bumped([])).toEqual({ kind: 'fees', fees: STANDARD });
  });

  it('is none when the caps do not allow an eighth more: those of the config, of the client, and of a node', () => {
    expect(bumped([out(fees(390n, 40n))])).toMatchObject({ kind: 'capped', caps: CAPS });
    const own = { fees: { ...NO_FEES, maxFeePerGas: 100n }, speed: 'standard' } as const;
    expect(bumped([out(fees(100n, 16n))], { request: own })).toMatchObject({
      kind: 'capped',
      caps: { maxFeePerGas: 100n },
    });
    learnLimit(150_000n);
    expect(bumped([out(fees(140n, 16n))])).toMatchObject({ kind: 'capped', caps: { maxFeePerGas: 150n } });
  });

  it('is not that of a price above the market, unless somebody wants it or a node refused it', () => {
    const attempts = [out(fees(200n, 44n))];
    const calm = { ...QUOTE, congestedTip: 44n };
    expect(bumped(attempts, {}, calm)).toEqual({ kind: 'above_market' });
    expect(bumped(attempts, {}, { ...QUOTE, congestedTip: 45n })).toMatchObject({ kind: 'fees' });
    expect(bumped(attempts, { because: 'forced' }, calm)).toEqual({ kind: 'fees', fees: fees(225n, 50n) });
    expect(bumped(attempts, { because: { refusal: 'underpriced' } }, calm)).toMatchObject({ kind: 'fees' });
  });

  it('does not rise for ever because nodes refuse every price, unless they say what they demand', () => {
    const attempts = [out(fees(200n, 44n))];
    const cheap = { ...QUOTE, tips: { ...QUOTE.tips, urgent: 21n } };
    expect(bumped(attempts, { because: { refusal: 'underpriced' } }, cheap)).toEqual({ kind: 'above_market' });
    const demand = { refusal: 'transaction underpriced: gas tip cap 44, minimum needed 48' };
    expect(bumped(attempts, { because: demand }, cheap)).toMatchObject({ kind: 'fees' });
    expect(bumped(attempts, { because: 'forced' }, cheap)).toMatchObject({ kind: 'fees' });
  });

  it('does not rise for ever because a node demands what it was offered', () => {
    const cheap = { ...QUOTE, tips: { ...QUOTE.tips, urgent: 21n } };
    const because = { refusal: 'transaction underpriced: gas tip cap 1, minimum needed 44' };
    expect(bumped([out(fees(200n, 44n))], { because }, cheap)).toEqual({ kind: 'above_market' });
    // This fee cap pays only 43 above the base fee.
    expect(bumped([out(fees(123n, 44n))], { because }, cheap)).toMatchObject({ kind: 'fees' });
  });

  it('does not rise for ever because a node demands a price of blobs, where there are none', () => {
    const cheap = { ...QUOTE, tips: { ...QUOTE.tips, urgent: 21n } };
    const because = { refusal: 'transaction gas price below minimum: blob fee cap 0, minimum needed 1' };
    expect(bumped([out(fees(200n, 44n))], { because }, cheap)).toEqual({ kind: 'above_market' });
  });

  it('does not rise for ever in its fee cap while its tip is still below twice the most urgent one', () => {
    const because = { refusal: 'transaction underpriced' };
    const steep = { ...QUOTE, baseFeePerGas: 5n, tips: { ...QUOTE.tips, urgent: 30n } };
    expect(bumped([out(fees(81n, 30n))], { because }, steep)).toEqual({ kind: 'above_market' });
    expect(bumped([out(fees(80n, 30n))], { because }, steep)).toMatchObject({ kind: 'fees' });
    expect(bumped([out(fees(81n, 29n))], { because }, steep)).toMatchObject({ kind: 'fees' });
  });

  describe('of which every node refused all attempts as too cheap', () => {
    const because = { refusal: 'transaction underpriced' };

    it('is the market, where that is a better price', () => {
      expect(bumped([tooCheap(fees(170n, 19n))], { because })).toEqual({ kind: 'fees', fees: STANDARD });
      expect(bumped([tooCheap(fees(900n, 19n))], { because })).toEqual({ kind: 'fees', fees: STANDARD });
    });

    it('is higher than each that was refused, where the market is not', () => {
      expect(bumped([tooCheap(STANDARD)], { because })).toEqual({ kind: 'fees', fees: fees(203n, 23n) });
      expect(bumped([tooCheap(fees(240n, 40n)), tooCheap(fees(203n, 23n))], { because })).toEqual({
        kind: 'fees',
        fees: fees(270n, 45n),
      });
    });

    it('is what a node demanded, also within the fee cap of a client, for nothing is out that must be outbid', () => {
      const request = { fees: { ...NO_FEES, maxFeePerGas: 180n }, speed: 'standard' } as const;
      const demand = { refusal: 'transaction underpriced: gas tip cap 20, minimum needed 30' };
      expect(bumped([tooCheap(STANDARD)], { request, because: demand })).toEqual({
        kind: 'fees',
        fees: fees(180n, 30n),
      });
    });

    it('is a lower one at the caps, where it was not tried, and none where it was', () => {
      const attempts = [tooCheap(fees(390n, 48n))];
      expect(bumped(attempts, { because })).toEqual({ kind: 'fees', fees: STANDARD });
      expect(bumped([...attempts, tooCheap(STANDARD)], { because })).toMatchObject({ kind: 'capped' });
    });
  });
});

it('the next price of a payload that was too dear is a quarter less, and none when that is too low', () => {
  const dear = { maxFeePerGas: 200n, maxPriorityFeePerGas: 160n };
  const caps = { ...rules.capsFor(SIGNER), maxPriorityFeePerGas: 200n };
  expect(rules.lower(caps, { fees: dear, type: 2 }, GAS, QUOTE)).toEqual({
    maxFeePerGas: 150n,
    maxPriorityFeePerGas: 150n,
  });
  expect(rules.lower(caps, { fees: { ...dear, maxFeePerGas: 100n }, type: 2 }, GAS, QUOTE)).toBeNull();
  const withBlobs = { ...dear, maxFeePerBlobGas: 50n };
  expect(rules.lower({ ...caps, maxFeePerBlobGas: 40n }, { fees: withBlobs, type: 3 }, GAS, QUOTE)).toMatchObject({
    maxFeePerBlobGas: 40n,
  });
});

it('the next price of a payload that was too dear is within what is reserved for it, also when its gas rose', () => {
  const dear = { maxFeePerGas: 200n, maxPriorityFeePerGas: 160n };
  const within = rules.capsOf({ ...item('standard'), gasLimit: 2n * GAS, reserved: 220n * GAS });
  const caps = { ...within, maxPriorityFeePerGas: 200n };
  expect(rules.lower(caps, { fees: dear, type: 2 }, 2n * GAS, QUOTE)).toEqual({
    maxFeePerGas: 110n,
    maxPriorityFeePerGas: 110n,
  });
});

it('the next price of a payload that was too dear is within a limit for tips that was lowered since, which is none for a gas price', () => {
  const dear = { maxFeePerGas: 200n, maxPriorityFeePerGas: 160n };
  const caps = { ...rules.capsFor(SIGNER), maxPriorityFeePerGas: 20n };
  expect(rules.lower(caps, { fees: dear, type: 2 }, GAS, QUOTE)).toEqual({
    maxFeePerGas: 150n,
    maxPriorityFeePerGas: 20n,
  });
  const onePrice = { maxFeePerGas: 200n, maxPriorityFeePerGas: 200n };
  expect(rules.lower(caps, { fees: onePrice, type: 0 }, GAS, QUOTE)).toEqual({
    maxFeePerGas: 150n,
    maxPriorityFeePerGas: 150n,
  });
});

it('a tip at the caps is never above the fee', () => {
  const tight = rulesWith({ maxFeePerGas: 90n, maxPriorityFeePerGas: 95n });
  expect(tight.noOp(SIGNER, QUOTE, [out(fees(90n, 1n))], GAS)).toEqual(fees(90n, 90n));
});

import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import { type Attempt, type AttemptStatus } from '../../../src/modules/ledger/domain/attempt.js';
import { backoffMs, triedForMs } from '../../../src/kernel/backoff.js';
import { byDepth, byTag } from '../../../src/modules/chain/domain/final-heights.js';
import { aHash, aSigner } from '../../support/builders.js';
import { bindingFor, highestFees, refusedForPrice } from '../../../src/modules/sending/domain/fee-bump.js';
import { asFound, outcomeOf } from '../../../src/modules/sending/domain/send-verdict.js';

function anAttempt(status: AttemptStatus, fee = 2n, tip = 1n): Attempt {
  return {
    signer: aSigner(),
    nonce: 7n,
    txHash: aHash(1),
    raw: parseHex('0x'),
    kind: 'payload',
    txId: 'tx',
    gasLimit: 21_000n,
    fees: { maxFeePerGas: fee, maxPriorityFeePerGas: tip },
    type: 2,
    pricedAtBlock: null,
    status,
    errorClass: null,
  };
}

it('a refused price binds the next one of its own tx alone, and for sixteen blocks; what may be out binds all', () => {
  const of = (txId: string, pricedAtBlock: number | null): Attempt => ({
    ...anAttempt('REJECTED'),
    txId,
    pricedAtBlock,
  });
  const out = { ...anAttempt('UNKNOWN'), txId: 'other' };
  const [recent, old, unknown, former] = [of('tx', 84), of('tx', 83), of('tx', null), of('other', 100)];
  // An endpoint told a block that the chain does not have.
  const lie = of('tx', 16_777_215);
  expect(bindingFor('tx', [out, recent, old, unknown, former, lie], 100)).toEqual([out, recent]);
  expect(bindingFor(null, [out, recent, former], 100)).toEqual([out]);
});

describe('what a competitor must outbid', () => {
  it('is the highest fee and the highest tip of all that may be out', () => {
    const attempts = [anAttempt('ACCEPTED', 9n, 1n), anAttempt('UNKNOWN', 5n, 4n), anAttempt('REJECTED', 99n, 99n)];
    expect(highestFees(attempts)).toEqual({ maxFeePerGas: 9n, maxPriorityFeePerGas: 4n });
  });

  it('is also what was refused only because it was too cheap: the same price would be refused again', () => {
    const classes = ['underpriced', 'replacement_underpriced', 'fee_cap_too_low', 'blob_fee_cap_too_low'] as const;
    for (const errorClass of classes) {
      const attempts = [anAttempt('ACCEPTED', 9n, 1n), { ...anAttempt('REJECTED', 8n, 7n), errorClass }];
      expect(highestFees(attempts)).toEqual({ maxFeePerGas: 9n, maxPriorityFeePerGas: 7n });
    }
    for (const errorClass of ['node_fee_cap_exceeded', 'tip_above_fee_cap', 'oversized_data'] as const)
      expect(highestFees([{ ...anAttempt('REJECTED', 8n, 7n), errorClass }])).toBeNull();
  });

  it('has a blob fee when one of them has', () => {
    const withBlobs = (maxFeePerBlobGas: bigint) => ({
      ...anAttempt('ACCEPTED'),
      fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas },
    });
    expect(highestFees([withBlobs(3n), anAttempt('ACCEPTED'), withBlobs(5n)])).toMatchObject({ maxFeePerBlobGas: 5n });
  });

  it('is nothing when nothing may be out', () => {
    expect(highestFees([])).toBeNull();
    expect(highestFees([anAttempt('REJECTED')])).toBeNull();
  });
});

it('an attempt that is found signed may have been sent, and any other is what it is', () => {
  expect(asFound(anAttempt('SIGNED'))).toEqual(anAttempt('UNKNOWN'));
  for (const status of ['ACCEPTED', 'REJECTED', 'UNKNOWN', 'MINED', 'LOST'] as const)
    expect(asFound(anAttempt(status))).toEqual(anAttempt(status));
});

it.each<[Attempt['errorClass'], boolean]>([
  ['underpriced', true],
  ['replacement_underpriced', true],
  ['blob_fee_cap_too_low', true],
  ['insufficient_funds', false],
  ['nonce_too_low', false],
  [null, false],
])('an attempt whose last answer was %s was refused for its price: %s', (errorClass, expected) => {
  expect(refusedForPrice({ errorClass })).toBe(expected);
});

describe('what a send taught us', () => {
  const REJECTED = { kind: 'rejected', errorClass: 'underpriced', message: 'too cheap' } as const;
  const UNKNOWN = { kind: 'unknown', errorClass: 'transient', message: 'timeout' } as const;

  it('is that it was accepted, without a word or by way of an error', () => {
    const attempt = anAttempt('SIGNED');
    const accepted = { attempt, status: 'ACCEPTED', errorClass: null, error: null, notSent: false, alone: false };
    expect(outcomeOf(attempt, { kind: 'accepted' })).toEqual(accepted);
    expect(outcomeOf(attempt, { kind: 'accepted', errorClass: 'already_known' })).toEqual({
      ...accepted,
      errorClass: 'already_known',
    });
  });

  it.each<[AttemptStatus, AttemptStatus]>([
    ['SIGNED', 'UNSENT'],
    ['UNSENT', 'UNSENT'],
    ['REJECTED', 'REJECTED'],
    ['ACCEPTED', 'ACCEPTED'],
    ['UNKNOWN', 'UNKNOWN'],
  ])('is nothing about an attempt that is %s when it never left', (before, after) => {
    const attempt = anAttempt(before);
    const said = { errorClass: null, error: 'ECONNREFUSED', notSent: true, alone: false };
    expect(outcomeOf(attempt, { kind: 'not_sent', message: 'ECONNREFUSED' })).toEqual({
      attempt,
      status: after,
      ...said,
    });
  });

  it.each([
    ['SIGNED', REJECTED, 'REJECTED'],
    ['UNSENT', REJECTED, 'REJECTED'],
    ['UNSENT', UNKNOWN, 'UNKNOWN'],
    ['REJECTED', REJECTED, 'REJECTED'],
    ['UNKNOWN', REJECTED, 'UNKNOWN'],
    ['ACCEPTED', REJECTED, 'ACCEPTED'],
    ['SIGNED', UNKNOWN, 'UNKNOWN'],
    ['REJECTED', UNKNOWN, 'UNKNOWN'],
    ['ACCEPTED', UNKNOWN, 'ACCEPTED'],
  ] as const)('makes %s and an answer that is %j %s', (before, said, after) => {
    const attempt = anAttempt(before);
    const { errorClass, message: error } = said;
    const outcome = { attempt, status: after, errorClass, error, notSent: false, alone: false };
    expect(outcomeOf(attempt, said)).toEqual(outcome);
  });

  it('is the word of one endpoint alone where only one was asked', () => {
    expect(outcomeOf(anAttempt('SIGNED'), { ...REJECTED, alone: true }).alone).toBe(true);
    expect(outcomeOf(anAttempt('SIGNED'), { ...REJECTED, alone: false }).alone).toBe(false);
  });
});

describe('the pause before the next try', () => {
  it('doubles with every try, up to a minute, and is never shorter than the first', () => {
    expect([0, 1, 2, 4, 5, 99].map((tries) => backoffMs(2_000, tries))).toEqual([
      2_000, 4_000, 8_000, 32_000, 60_000, 60_000,
    ]);
    expect(backoffMs(90_000, 3)).toBe(90_000);
    expect(backoffMs(0, 2_000)).toBe(0);
  });

  it('adds up to the time for which something was tried', () => {
    expect(triedForMs(2_000, 0)).toBe(0);
    expect(triedForMs(2_000, 3)).toBe(14_000);
    expect(triedForMs(2_000, 7)).toBe(2_000 + 4_000 + 8_000 + 16_000 + 32_000 + 60_000 + 60_000);
    expect(triedForMs(1, Number.POSITIVE_INFINITY)).toBeGreaterThan(50_000_000_000);
  });
});

describe('what is final', () => {
  it('is so many blocks below the head, and with none the head itself', () => {
    expect(byDepth(100, 12)).toEqual({ byRule: 88, head: 100, ceiling: 100 });
    expect(byDepth(100, 0)).toEqual({ byRule: 100, head: 100, ceiling: 100 });
  });

  it('is at most the block under the tag, and never above the head that was followed', () => {
    expect(byTag(100, 90)).toEqual({ byRule: 90, head: 100, ceiling: 90 });
    expect(byTag(100, 105)).toEqual({ byRule: 100, head: 100, ceiling: 100 });
  });
});

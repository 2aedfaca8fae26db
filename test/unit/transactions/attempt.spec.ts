import { describe, expect, it } from '@jest/globals';
import type { BroadcastOutcome } from '../../../src/modules/chain/index.js';
import {
  asFound,
  type AttemptFees,
  type AttemptStatus,
  highestFees,
  outcomeOf,
} from '../../../src/modules/transactions/domain/attempt.js';
import { anAttempt } from '../../support/builders.js';

function fees(maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): AttemptFees {
  return { maxFeePerGas, maxPriorityFeePerGas };
}

describe('an attempt as it is found in the database', () => {
  it.each<[AttemptStatus, AttemptStatus]>([
    ['SIGNED', 'UNKNOWN'],
    ['REJECTED', 'REJECTED'],
    ['ACCEPTED', 'ACCEPTED'],
    ['UNKNOWN', 'UNKNOWN'],
    ['MINED', 'MINED'],
    ['LOST', 'LOST'],
  ])('%s counts as %s', (status, counts) => {
    expect(asFound(anAttempt({ status }))).toEqual(anAttempt({ status: counts }));
  });
});

describe('what a send teaches about an attempt', () => {
  const ACCEPTED = { kind: 'accepted' } as const;
  const REJECTED = { kind: 'rejected', errorClass: 'oversized_data', message: 'no' } as const;
  const UNKNOWN = { kind: 'unknown', errorClass: 'transient', message: 'timeout' } as const;
  const NOT_SENT = { kind: 'not_sent', message: 'ECONNREFUSED' } as const;

  it.each<[AttemptStatus, BroadcastOutcome, AttemptStatus]>([
    ['SIGNED', ACCEPTED, 'ACCEPTED'],
    ['SIGNED', REJECTED, 'REJECTED'],
    ['SIGNED', UNKNOWN, 'UNKNOWN'],
    ['SIGNED', NOT_SENT, 'REJECTED'],
    ['REJECTED', ACCEPTED, 'ACCEPTED'],
    ['REJECTED', REJECTED, 'REJECTED'],
    ['REJECTED', UNKNOWN, 'UNKNOWN'],
    ['REJECTED', NOT_SENT, 'REJECTED'],
    ['UNKNOWN', ACCEPTED, 'ACCEPTED'],
    ['UNKNOWN', REJECTED, 'UNKNOWN'],
    ['UNKNOWN', UNKNOWN, 'UNKNOWN'],
    ['UNKNOWN', NOT_SENT, 'UNKNOWN'],
    ['ACCEPTED', ACCEPTED, 'ACCEPTED'],
    ['ACCEPTED', REJECTED, 'ACCEPTED'],
    ['ACCEPTED', UNKNOWN, 'ACCEPTED'],
    ['ACCEPTED', NOT_SENT, 'ACCEPTED'],
  ])('%s, answered %j, is %s', (before, answer, after) => {
    expect(outcomeOf(anAttempt({ status: before }), answer).status).toBe(after);
  });

  it('says when one endpoint alone refused it, and when it never left', () => {
    const told = [REJECTED, { ...REJECTED, alone: true }, UNKNOWN, NOT_SENT].map((answer) =>
      outcomeOf(anAttempt(), answer),
    );
    expect(told.map(({ alone, notSent }) => [alone, notSent])).toEqual([
      [false, false],
      [true, false],
      [false, false],
      [false, true],
    ]);
  });
});

describe('the price to outbid', () => {
  it('is the highest of each fee among attempts that may be out, whatever their order', () => {
    const attempts = [
      anAttempt({ status: 'ACCEPTED', fees: fees(10n, 3n) }),
      anAttempt({ status: 'UNKNOWN', fees: fees(20n, 1n) }),
      anAttempt({ status: 'REJECTED', fees: fees(90n, 9n) }),
      anAttempt({ status: 'LOST', fees: fees(15n, 2n) }),
    ];
    expect([highestFees(attempts), highestFees(attempts.toReversed())]).toEqual([fees(20n, 3n), fees(20n, 3n)]);
  });

  it('is none when nothing may be out', () => {
    expect([highestFees([]), highestFees([anAttempt({ status: 'REJECTED' })])]).toEqual([null, null]);
  });
});

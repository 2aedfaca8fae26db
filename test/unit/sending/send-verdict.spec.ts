import { describe, expect, it } from '@jest/globals';
import { ACTION, type BroadcastOutcome } from '../../../src/modules/chain/index.js';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import { type Attempt } from '../../../src/modules/ledger/domain/attempt.js';
import {
  type SendHistory,
  type SendVerdict,
  verdictOf,
  outcomeOf,
} from '../../../src/modules/sending/domain/send-verdict.js';
import { anAttempt } from '../../support/builders.js';

function afterTries(tries: number, overrides: Partial<SendHistory> = {}): SendHistory {
  return {
    equalTries: () => tries,
    needsSecondObservation: false,
    anotherIsOut: false,
    hasOriginal: false,
    otherGas: null,
    nonceIsFree: false,
    isFunded: false,
    othersGetThrough: true,
    waitsForLower: false,
    othersAreTaken: true,
    maxRefusals: 10,
    maxRefusalsInDoubt: 100,
    intervalMs: 60_000,
    ...overrides,
  };
}

function verdict(status: Attempt['status'], outcome: BroadcastOutcome, history = afterTries(0)): SendVerdict {
  return verdictOf(outcomeOf(anAttempt({ status }), outcome), history);
}

function said(errorClass: NodeErrorClass): BroadcastOutcome {
  const { outcome } = ACTION[errorClass];
  if (errorClass === 'already_known' || errorClass === 'already_mined') return { kind: 'accepted', errorClass };
  const message: string = errorClass;
  return outcome === 'rejected' ? { kind: 'rejected', errorClass, message } : { kind: 'unknown', errorClass, message };
}

describe('a send that surely never left', () => {
  const NOT_SENT = { kind: 'not_sent', message: 'ECONNREFUSED' } as const;

  it.each([
    ['SIGNED', 'UNSENT'],
    ['UNSENT', 'UNSENT'],
    ['REJECTED', 'REJECTED'],
  ] as const)('leaves an attempt %s as %s, and is tried again soon', (status, after) => {
    expect(outcomeOf(anAttempt({ status }), NOT_SENT)).toMatchObject({ status: after, error: 'ECONNREFUSED' });
    expect(verdict(status, NOT_SENT)).toEqual({ kind: 'waiting', subState: 'NODE_UNAVAILABLE', retryInMs: 2_000 });
  });

  it.each(['UNKNOWN', 'ACCEPTED'] as const)('changes nothing for an attempt that is %s', (status) => {
    expect(outcomeOf(anAttempt({ status }), NOT_SENT)).toMatchObject({ status });
    expect(verdict(status, NOT_SENT)).toMatchObject({ kind: 'sent', subState: 'NODE_UNAVAILABLE', retryInMs: 2_000 });
  });
});

describe('a refusal for too little gas', () => {
  const more = (tries: number): SendHistory => afterTries(tries, { otherGas: 70_000n, needsSecondObservation: true });

  it.each(['SIGNED', 'UNSENT', 'REJECTED'] as const)(
    'of bytes that are %s: others with more gas are due soon',
    (status) => {
      const waiting = { kind: 'waiting', subState: 'NODE_REFUSED', retryInMs: 2_000, gasLimit: 70_000n };
      expect(verdict(status, said('intrinsic_gas_too_low'), more(0))).toEqual(waiting);
    },
  );

  it.each(['UNKNOWN', 'ACCEPTED'] as const)(
    'of bytes that are %s: they stay out, and others are due soon',
    (status) => {
      const sent = { kind: 'sent', subState: 'NODE_REFUSED', retryInMs: 4_000, gasLimit: 70_000n };
      expect(verdict(status, said('intrinsic_gas_too_low'), more(1))).toMatchObject(sent);
    },
  );

  it('ends it after as many refusals as are allowed, when the new bytes could not be signed', () => {
    expect(
      verdict('SIGNED', said('intrinsic_gas_too_low'), { ...more(9), needsSecondObservation: false }),
    ).toMatchObject({
      kind: 'refused',
      as: 'FAILED',
    });
  });
});

describe('what a refusal means', () => {
  const FOR_GOOD = NODE_ERROR_CLASSES.filter((each) => ACTION[each].response === 'fail_payload');
  const REFUSALS = NODE_ERROR_CLASSES.filter((each) => ACTION[each].outcome === 'rejected');

  it.each(FOR_GOOD)('%s: closes the slot, also of what no node took: one may have kept it', (errorClass) => {
    const refused = { kind: 'refused', as: 'FAILED', reason: errorClass };
    for (const status of ['SIGNED', 'UNSENT', 'REJECTED', 'UNKNOWN', 'ACCEPTED'] as const)
      expect(verdict(status, said(errorClass))).toEqual(refused);
  });

  it.each(FOR_GOOD)('%s: withdraws a replacement, and what it replaces goes on', (errorClass) => {
    const history = afterTries(0, { hasOriginal: true });
    expect(verdict('SIGNED', said(errorClass), history)).toEqual({ kind: 'withdrawn', reason: errorClass });
  });

  it.each(FOR_GOOD)('%s: ends nothing while a second look is wanted', (errorClass) => {
    const history = afterTries(0, { needsSecondObservation: true });
    expect(verdict('SIGNED', said(errorClass), history).kind).toBe('waiting');
    expect(verdict('ACCEPTED', said(errorClass), history)).toMatchObject({ kind: 'sent', subState: 'NODE_REFUSED' });
  });

  it.each(REFUSALS.filter((each) => each !== 'insufficient_funds'))(
    '%s: closes the slot of what no node took after so many equal refusals',
    (errorClass) => {
      expect(verdict('SIGNED', said(errorClass), afterTries(9)).kind).toBe('refused');
      expect(verdict('SIGNED', said(errorClass), afterTries(9, { hasOriginal: true })).kind).toBe('withdrawn');
    },
  );

  it.each(REFUSALS.filter((each) => each !== 'insufficient_funds'))(
    '%s: closes the slot of what may be out after so many equal refusals',
    (errorClass) => {
      expect(verdict('ACCEPTED', said(errorClass), afterTries(99)).kind).toBe('refused');
    },
  );

  it('insufficient_funds: is a refusal like others once the balance is known to cover it', () => {
    const funded = (tries: number): SendHistory => afterTries(tries, { isFunded: true });
    expect(verdict('ACCEPTED', said('insufficient_funds'), funded(98)).kind).toBe('sent');
    expect(verdict('ACCEPTED', said('insufficient_funds'), funded(99)).kind).toBe('refused');
    expect(verdict('SIGNED', said('insufficient_funds'), funded(9))).toMatchObject({ kind: 'refused', as: 'PENDING' });
  });

  it('insufficient_funds: what no node took waits for a top-up with its nonce, but a replacement is withdrawn', () => {
    const waits = { kind: 'waiting', subState: 'INSUFFICIENT_FUNDS', retryInMs: 60_000 };
    expect(verdict('SIGNED', said('insufficient_funds'), afterTries(999))).toEqual(waits);
    const replacement = afterTries(9, { hasOriginal: true });
    expect(verdict('SIGNED', said('insufficient_funds'), replacement).kind).toBe('withdrawn');
  });

  it.each(['UNKNOWN', 'ACCEPTED'] as const)(
    'insufficient_funds: an attempt %s waits for a top-up, however often it was refused',
    (status) => {
      expect(verdict(status, said('insufficient_funds'), afterTries(999))).toEqual({
        kind: 'sent',
        subState: 'INSUFFICIENT_FUNDS',
        askReceipt: false,
        retryInMs: 60_000,
        counts: true,
      });
    },
  );

  it.each(['txpool_full', 'underpriced', 'insufficient_funds', 'nonce_too_high'] as const)(
    '%s: ends nothing that was accepted once for a price spike or a full pool of some minutes',
    (errorClass) => {
      expect(verdict('ACCEPTED', said(errorClass), afterTries(9)).kind).toBe('sent');
    },
  );

  it('waits longer each time', () => {
    const pauses = [0, 1, 2, 8].map((tries) => verdict('SIGNED', said('insufficient_funds'), afterTries(tries)));
    expect(pauses.map((each) => ('retryInMs' in each ? each.retryInMs : null))).toEqual([2_000, 4_000, 8_000, 60_000]);
  });
});

describe('a send that was taken', () => {
  const SENT = { kind: 'sent', subState: null, askReceipt: false, retryInMs: 60_000, counts: true };

  it('is looked at again after the interval', () => {
    expect(verdict('SIGNED', { kind: 'accepted' })).toEqual(SENT);
    expect(verdict('SIGNED', said('already_known'))).toEqual(SENT);
  });

  it('is asked for at once where it is mined already, however often it was sent', () => {
    const mined = { ...SENT, askReceipt: true };
    expect(verdict('SIGNED', said('already_mined'))).toEqual(mined);
    expect(verdict('SIGNED', said('already_mined'), afterTries(99))).toEqual(mined);
  });
});

describe('a refusal that comes again and again', () => {
  it.each([
    ['underpriced', 'FEE_CAPPED'],
    ['account_limit', 'POOL_LIMIT'],
    ['nonce_too_high', 'NODE_REFUSED'],
    ['txpool_full', 'POOL_LIMIT'],
  ] as const)('(%s) ends with the payload waiting for another nonce: circumstances change', (errorClass, subState) => {
    const waiting = { kind: 'waiting', subState, retryInMs: 60_000 };
    expect(verdict('SIGNED', said(errorClass), afterTries(8))).toEqual(waiting);
    const reason = `refused 10 times: ${errorClass}`;
    expect(verdict('SIGNED', said(errorClass), afterTries(9))).toEqual({ kind: 'refused', as: 'PENDING', reason });
  });

  it.each(['node_fee_cap_exceeded', 'invalid_sender', 'invalid_chain_id'] as const)(
    '(%s) ends the payload, with the number of its refusals',
    (errorClass) => {
      expect(verdict('SIGNED', said(errorClass), afterTries(8)).kind).toBe('waiting');
      const reason = `refused 10 times: ${errorClass}`;
      expect(verdict('SIGNED', said(errorClass), afterTries(9))).toEqual({ kind: 'refused', as: 'FAILED', reason });
    },
  );

  it('closes the slot of what may be out: after few for what it is, after many for circumstances', () => {
    const policy = said('node_fee_cap_exceeded');
    const reason = 'node_fee_cap_exceeded';
    expect(verdict('ACCEPTED', policy, afterTries(8))).toMatchObject({ kind: 'sent', subState: 'NODE_REFUSED' });
    expect(verdict('ACCEPTED', policy, afterTries(9))).toEqual({ kind: 'refused', as: 'FAILED', reason });
    expect(verdict('ACCEPTED', said('txpool_full'), afterTries(98)).kind).toBe('sent');
  });

  it('is counted by what it came to', () => {
    const asked: string[] = [];
    const history = afterTries(0, { equalTries: (subState) => asked.push(subState) });
    verdict('SIGNED', said('insufficient_funds'), history);
    expect(new Set(asked)).toEqual(new Set(['INSUFFICIENT_FUNDS']));
  });

  it('tells what the nodes said, or else the class', () => {
    const outcome = { ...outcomeOf(anAttempt({ status: 'SIGNED' }), said('oversized_data')), error: null };
    expect(verdictOf(outcome, afterTries(0))).toMatchObject({ kind: 'refused', reason: 'oversized_data' });
  });
});

describe('a refusal for a limit of the pool', () => {
  const LIMITS = ['account_limit', 'delegated_account_limit', 'txpool_full'] as const;

  it.each(LIMITS)('(%s) never ends what waits for lower nonces, and does not count against it', (errorClass) => {
    const history = afterTries(999, { waitsForLower: true });
    const waits = { kind: 'waiting', subState: 'POOL_LIMIT', retryInMs: 60_000, counts: false };
    expect(verdict('SIGNED', said(errorClass), history)).toEqual(waits);
    const mayBeOut = { ...waits, kind: 'sent', askReceipt: false };
    expect(verdict('ACCEPTED', said(errorClass), history)).toEqual(mayBeOut);
  });

  it.each(LIMITS)('(%s) never ends the lowest nonce while the pool takes nothing at all', (errorClass) => {
    const history = afterTries(999, { othersAreTaken: false });
    expect(verdict('SIGNED', said(errorClass), history)).toMatchObject({ kind: 'waiting', retryInMs: 60_000 });
    expect(verdict('ACCEPTED', said(errorClass), history)).toMatchObject({ kind: 'sent', subState: 'POOL_LIMIT' });
  });
});

describe('an answer that leaves it open', () => {
  const OPEN = NODE_ERROR_CLASSES.filter(
    (each) => ACTION[each].outcome === 'unknown' && ACTION[each].response === 'retry_same_bytes',
  );

  it.each(OPEN)('%s: closes the slot after so many, when others get through', (errorClass) => {
    expect(verdict('SIGNED', said(errorClass), afterTries(98))).toMatchObject({ kind: 'sent', counts: true });
    expect(verdict('SIGNED', said(errorClass), afterTries(99)).kind).toBe('refused');
  });

  it.each(OPEN)('%s: is sent again after the interval', (errorClass) => {
    expect(verdict('SIGNED', said(errorClass))).toEqual({
      kind: 'sent',
      subState: 'OUTCOME_UNKNOWN',
      askReceipt: false,
      retryInMs: 60_000,
      counts: true,
    });
  });

  const outage = afterTries(99, { othersGetThrough: false });

  it.each(['rate_limited', 'transient', 'ambiguous_internal', 'unknown'] as const)(
    '%s: counts for nothing while nobody gets through',
    (errorClass) => {
      expect(verdict('SIGNED', said(errorClass), outage)).toMatchObject({ kind: 'sent', counts: false });
    },
  );

  // Seed 1251 of the simulator: a signer alone on its chain waited for ever.
  it.each(['tx_type_conflict', 'hash_mismatch'] as const)(
    '%s: is about this very transaction, and closes the slot although nobody else gets through',
    (errorClass) => {
      expect(verdict('SIGNED', said(errorClass), outage).kind).toBe('refused');
    },
  );

  it('that calls the nonce used is a question for the chain, and closes the slot only when the chain has not used it', () => {
    expect(verdict('SIGNED', said('nonce_too_low'), afterTries(99))).toMatchObject({
      kind: 'sent',
      subState: 'NONCE_SYNC',
      askReceipt: true,
    });
    expect(verdict('SIGNED', said('nonce_too_low'), afterTries(8, { nonceIsFree: true })).kind).toBe('sent');
    const free = afterTries(9, { nonceIsFree: true });
    expect(verdict('SIGNED', said('nonce_too_low'), free).kind).toBe('refused');
  });
});

describe('a refusal of another price, while an earlier attempt of ours may be out', () => {
  const bump = afterTries(99, { anotherIsOut: true, nonceIsFree: true });

  it.each(['replacement_underpriced', 'replaced_by_other'] as const)(
    '%s: the pool has the earlier one, so the tx goes on without any doubt about its nonce',
    (errorClass) => {
      const goesOn = { kind: 'sent', subState: null, askReceipt: false, retryInMs: 60_000, counts: true };
      expect(verdict('SIGNED', said(errorClass), bump)).toEqual(goesOn);
      expect(verdict('ACCEPTED', said(errorClass), bump)).toEqual(goesOn);
      expect(verdict('SIGNED', said(errorClass), { ...bump, anotherIsOut: false }).kind).toBe('refused');
    },
  );

  it.each(
    NODE_ERROR_CLASSES.filter(
      (each) => ACTION[each].outcome === 'rejected' && ACTION[each].response !== 'fail_payload',
    ),
  )('%s: never ends the payload', (errorClass) => {
    expect(verdict('SIGNED', said(errorClass), bump).kind).toBe('waiting');
    const alone = { ...bump, anotherIsOut: false, isFunded: true };
    expect(verdict('SIGNED', said(errorClass), alone).kind).not.toBe('waiting');
  });

  it('a used nonce is a question still: perhaps the earlier one was mined', () => {
    expect(verdict('SIGNED', said('nonce_too_low'), { ...bump, nonceIsFree: false })).toMatchObject({
      kind: 'sent',
      subState: 'NONCE_SYNC',
      askReceipt: true,
    });
  });

  it('a refusal of the payload itself ends it, as after any other send', () => {
    expect(verdict('SIGNED', said('execution_reverted'), bump).kind).toBe('refused');
  });
});

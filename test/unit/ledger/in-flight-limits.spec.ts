import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { InFlightLimits } from '../../../src/modules/ledger/index.js';
import { aSigner } from '../../support/builders.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const MAX_IN_FLIGHT = 10;

let limits: InFlightLimits;

beforeEach(() => {
  limits = new InFlightLimits(Object.assign(new ExecutionConfig(), { maxInFlight: MAX_IN_FLIGHT }));
});

describe('the limit of a signer', () => {
  it('is the one of the config until a pool refuses', () => {
    expect([limits.ofLease(LEASE), limits.learnt(SIGNER)]).toEqual([MAX_IN_FLIGHT, null]);
  });

  it('is what the pool had when it refused, and at least one', () => {
    limits.refused(SIGNER, 4);
    expect([limits.ofLease(LEASE), limits.learnt(SIGNER)]).toEqual([4, 4]);
    limits.refused(SIGNER, 0);
    expect(limits.ofLease(LEASE)).toBe(1);
  });

  it('grows by one each time txs are mined, until it is the one of the config', () => {
    limits.refused(SIGNER, MAX_IN_FLIGHT - 2);
    limits.madeRoom([SIGNER, aSigner(2)]);
    expect(limits.learnt(SIGNER)).toBe(MAX_IN_FLIGHT - 1);
    limits.madeRoom([SIGNER]);
    expect([limits.learnt(SIGNER), limits.ofLease(LEASE)]).toEqual([null, MAX_IN_FLIGHT]);
    limits.madeRoom([SIGNER]);
    expect(limits.ofLease(LEASE)).toBe(MAX_IN_FLIGHT);
  });

  it('is not changed by a pool that is full of others', () => {
    limits.refused(SIGNER, null);
    expect(limits.learnt(SIGNER)).toBeNull();
    limits.refused(SIGNER, 4);
    limits.refused(SIGNER, null);
    expect(limits.learnt(SIGNER)).toBe(4);
  });

  it('is forgotten with the lease, and counts for the lease under which it was learnt', () => {
    limits.refused(SIGNER, 4);
    expect(limits.ofLease(LEASE)).toBe(4);
    expect(limits.ofLease({ ...LEASE, token: 2n })).toBe(MAX_IN_FLIGHT);
    expect(limits.ofLease(LEASE)).toBe(MAX_IN_FLIGHT);
  });
});

describe('what a pool refused', () => {
  it('is not sent again at once, but when txs of its signer were mined', () => {
    limits.refused(SIGNER, 4);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([aSigner(2)]);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mayResend(LEASE)).toBe(true);
  });

  it('is sent again when the pool took another of the signer', () => {
    limits.refused(SIGNER, 4);
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([true, true]);
  });

  it('is sent again once for each time that there may be room', () => {
    limits.refused(SIGNER, 4);
    limits.madeRoom([SIGNER]);
    limits.resending(LEASE, true);
    expect(limits.mayResend(LEASE)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mayResend(LEASE)).toBe(true);
  });

  it('is not looked for when nothing waits', () => {
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([false, false]);
    limits.refused(SIGNER, 4);
    limits.resending(LEASE, false);
    limits.madeRoom([SIGNER]);
    expect([limits.taken(SIGNER), limits.mayResend(LEASE)]).toEqual([false, false]);
  });
});

describe('a signer whose account delegates', () => {
  const DELEGATED = { isDelegated: true, learnt: 1, ofLease: 1 };
  const now = () => ({
    isDelegated: limits.isDelegated(SIGNER),
    learnt: limits.learnt(SIGNER),
    ofLease: limits.ofLease(LEASE),
  });

  it('has one tx in flight, however many are mined, until the delegation ends', () => {
    limits.refused(SIGNER, 4);
    limits.seen(SIGNER, true);
    expect(now()).toEqual(DELEGATED);
    limits.madeRoom([SIGNER]);
    expect(now()).toEqual(DELEGATED);
    limits.seen(SIGNER, false);
    expect(now()).toEqual({ isDelegated: false, learnt: 5, ofLease: 5 });
  });

  it('is looked at again once the tx that may change it has left flight', () => {
    limits.delegates(SIGNER);
    limits.seen(SIGNER, false);
    expect(limits.mustLook(SIGNER)).toBe(false);
    limits.madeRoom([SIGNER]);
    expect(limits.mustLook(SIGNER)).toBe(true);
    limits.seen(SIGNER, true);
    expect(limits.mustLook(SIGNER)).toBe(false);
  });

  it('does not keep that limit for one that a pool full of others refused', () => {
    limits.seen(SIGNER, true);
    limits.refused(SIGNER, null);
    limits.seen(SIGNER, false);
    expect(limits.learnt(SIGNER)).toBeNull();
  });
});

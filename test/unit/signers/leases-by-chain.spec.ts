import { describe, expect, it } from '@jest/globals';
import { LeasesByChain } from '../../../src/modules/signers/domain/leases-by-chain.js';
import { SignerLease } from '../../../src/modules/signers/domain/signer-lease.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

const OTHER_CHAIN = DEV_CHAIN + 1;

function aLease(n: number, chainId = DEV_CHAIN, token = 1n): SignerLease {
  return new SignerLease({ signer: { ...aSigner(n), chainId }, owner: 'node-a', token }, 1_000, 500);
}

describe('the leases of a node', () => {
  it('are found by signer and by chain', () => {
    const leases = new LeasesByChain();
    const [one, two, far] = [aLease(1), aLease(2), aLease(1, OTHER_CHAIN)];
    for (const lease of [one, two, far]) leases.put(lease);
    expect(leases.get(two.lease.signer)).toBe(two);
    expect([...leases.on(DEV_CHAIN)]).toEqual([one, two]);
    expect([...leases.on(OTHER_CHAIN)]).toEqual([far]);
    expect([...leases.on(99)]).toEqual([]);
    expect(leases.chains()).toEqual([DEV_CHAIN, OTHER_CHAIN]);
    expect(leases.all()).toEqual([one, two, far]);
  });

  it('are counted once each, however often one is granted', () => {
    const leases = new LeasesByChain();
    leases.put(aLease(1));
    const again = aLease(1, DEV_CHAIN, 2n);
    leases.put(again);
    expect(leases.size).toBe(1);
    expect(leases.get(again.lease.signer)).toBe(again);
  });

  it('are counted no more once they are gone, and a signer without one changes nothing', () => {
    const leases = new LeasesByChain();
    leases.put(aLease(1));
    leases.put(aLease(2));
    leases.delete(aSigner(3));
    leases.delete({ ...aSigner(1), chainId: OTHER_CHAIN });
    expect(leases.size).toBe(2);
    leases.delete(aSigner(1));
    expect(leases.size).toBe(1);
    expect(leases.get(aSigner(1))).toBeUndefined();
    leases.clear();
    expect(leases.size).toBe(0);
    expect(leases.all()).toEqual([]);
  });
});

describe('a lease', () => {
  it('is trusted until its duration after the request that granted it has passed', () => {
    const lease = aLease(1);
    expect(lease.isTrusted(1_499)).toBe(true);
    expect(lease.isTrusted(1_500)).toBe(false);
  });

  it('is not shortened by a late answer to an early request', () => {
    const lease = aLease(1);
    lease.renewed(2_000, 500);
    lease.renewed(1_500, 500);
    expect(lease.isTrusted(2_499)).toBe(true);
    expect(lease.isTrusted(2_500)).toBe(false);
  });

  it('is idle only when more than the given time has passed since its last work', () => {
    const lease = aLease(1);
    lease.workSeen(3_000);
    expect(lease.isIdle(3_100, 100)).toBe(false);
    expect(lease.isIdle(3_101, 100)).toBe(true);
  });
});

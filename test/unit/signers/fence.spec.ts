import { describe, expect, it } from '@jest/globals';
import { InvariantViolation, Unavailable } from '../../../src/kernel/errors.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { Fence } from '../../../src/modules/signers/domain/fence.js';
import { LeaseLost } from '../../../src/modules/signers/domain/lease-lost.js';
import { aSigner } from '../../support/builders.js';

const LEASE = { signer: aSigner(1), owner: 'node-a', token: 7n };

/** A fence over one signer, as the database gives it out. */
class OneSignerFence extends Fence {
  override readonly nodeId = 'node-a';
  override readonly tx = { open: true };
  protected override readonly leases = new Map([[signerKey(LEASE.signer), LEASE]]);
}

describe('a fence', () => {
  it('has the fencing token of a signer that it covers', () => {
    expect(new OneSignerFence().tokenFor(aSigner(1))).toBe(7n);
  });

  it('refuses a write for a signer that it does not cover, and says which', () => {
    const write = () => new OneSignerFence().tokenFor(aSigner(2));
    expect(write).toThrow(new InvariantViolation('a critical write was made outside its fence'));
    expect(write).toThrow(expect.objectContaining({ facts: { signer: signerKey(aSigner(2)) } }));
  });

  it('refuses a write after its transaction has ended', () => {
    const fence = new OneSignerFence();
    fence.tx.open = false;
    expect(() => fence.tokenFor(aSigner(1))).toThrow('a critical write was made outside its fence');
  });
});

describe('a lost lease', () => {
  it('is worth another try, and names the write and the signers', () => {
    const lost = new LeaseLost([LEASE], 'save');
    expect(lost).toBeInstanceOf(Unavailable);
    expect(lost).toMatchObject({
      code: 'lease_lost',
      message: 'another node took over (save)',
      advice: 'try again; the new owner will act',
      facts: { signers: [signerKey(LEASE.signer)] },
      retryable: true,
    });
  });
});

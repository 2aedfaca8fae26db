import { expect } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Lease } from '../../../src/modules/signers/domain/lease.js';
import { LeaseStore, type LeaseTerms } from '../../../src/modules/signers/domain/lease-store.js';

/** The lease table in memory, without time: a lease ends when a test says so. */
export class FakeLeaseStore extends LeaseStore {
  private readonly leases = new Map<string, Lease>();
  private readonly calls: { method: string; signers: readonly SignerId[] }[] = [];
  /** Of every call that has some, in order. */
  readonly terms: LeaseTerms[] = [];
  /** Of every release, whether it was said to be of idle signers. */
  readonly idleReleases: boolean[] = [];
  /** Runs before a call answers: to let time pass, to take leases away, to fail. */
  onCall: () => Promise<void> | void = () => undefined;

  async acquire(node: string, signers: readonly SignerId[], terms: LeaseTerms): Promise<Lease[]> {
    this.terms.push(terms);
    this.calls.push({ method: 'acquire', signers });
    const granted = signers.flatMap((signer) => {
      const current = this.leases.get(signerKey(signer));
      if (current && current.owner !== '') return current.owner === node ? [current] : [];
      return [this.grant(signer, node)];
    });
    await this.onCall();
    return granted;
  }

  async renew(node: string, leases: readonly Lease[], terms: LeaseTerms): Promise<Lease[]> {
    this.terms.push(terms);
    this.calls.push({ method: 'renew', signers: leases.map((lease) => lease.signer) });
    const renewed = leases.filter((lease) => this.isCurrent(node, lease));
    await this.onCall();
    return renewed;
  }

  async release(node: string, leases: readonly Lease[], idle = false): Promise<void> {
    this.idleReleases.push(idle);
    this.calls.push({ method: 'release', signers: leases.map((lease) => lease.signer) });
    for (const lease of leases) if (this.isCurrent(node, lease)) this.expire(lease.signer);
    await this.onCall();
  }

  async withoutOpenWrites(leases: readonly Lease[]): Promise<Lease[]> {
    return [...leases];
  }

  /** Another owner takes the lease, or the same one anew: the token grows. */
  grant(signer: SignerId, owner: string): Lease {
    const lease = { signer, owner, token: (this.leases.get(signerKey(signer))?.token ?? 0n) + 1n };
    this.leases.set(signerKey(signer), lease);
    return lease;
  }

  expire(signer: SignerId): void {
    const current = this.leases.get(signerKey(signer));
    if (current) this.leases.set(signerKey(signer), { ...current, owner: '' });
  }

  ownerOf(signer: SignerId): string | undefined {
    return this.leases.get(signerKey(signer))?.owner;
  }

  /** Every call so far, in order, and for which signers. */
  expectCalls(...calls: [method: 'acquire' | 'renew' | 'release', ...signers: SignerId[]][]): void {
    expect(this.calls.map(({ method, signers }) => [method, ...signers])).toEqual(calls);
  }

  private isCurrent(node: string, lease: Lease): boolean {
    const current = this.leases.get(signerKey(lease.signer));
    return current?.owner === node && current.token === lease.token;
  }
}

import { NodeLeases } from './node-leases.js';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Custody } from '../domain/custody.js';
import type { Lease } from '../domain/lease.js';
import type { LeaseLost } from '../domain/lease-lost.js';
import { LeasesByChain } from '../domain/leases-by-chain.js';
import { SignerLease } from '../domain/signer-lease.js';
import { Router } from './router.js';

/** Longer than any pause between two requests of a busy signer. Taking a lease again costs one more statement. */
const IDLE_AFTER_DURATIONS = 10;

/**
 * The leases of this node. The fence alone decides who may write. LeaseManager reports for which signers this node may try to write, and
 * stops before the expiry that it last knew.
 */
@Injectable()
export class LeaseManager {
  private readonly leases = new LeasesByChain();
  /** When the work of a chain was last read completely; monotonic ms. */
  private readonly allWorkReadAtMs = new Map<ChainId, number>();
  private draining = false;
  private onFirst: (chainId: ChainId) => void = () => undefined;

  constructor(
    private readonly store: NodeLeases,
    private readonly custody: Custody,
    private readonly router: Router,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /**
   * Takes the free ones of these leases, and returns all that this node may use now. Leaves out signers whose keys this node does not have.
   */
  async acquireOrRenew(signers: readonly SignerId[]): Promise<Lease[]> {
    const missing = signers.filter(
      (signer) => !this.held(signer) && this.custody.has(signer) && this.router.mayTake(signer),
    );
    if (missing.length > 0 && !this.draining) await this.acquire(missing);
    return signers.flatMap((signer) => this.held(signer) ?? []);
  }

  /** Takes the free ones of these leases without regard to the preferred node: for work that only this node may know of. */
  async takeFree(signers: readonly SignerId[]): Promise<void> {
    const missing = signers.filter((signer) => !this.held(signer) && this.custody.has(signer));
    if (missing.length > 0 && !this.draining) await this.acquire(missing);
  }

  /** @param listener called when this node gets a lease on a chain on which it had none */
  onFirstOf(listener: (chainId: ChainId) => void): void {
    this.onFirst = listener;
  }

  /** The lease of a signer, while this node may trust it. */
  held(signer: SignerId): Lease | null {
    const held = this.leases.get(signer);
    return held?.isTrusted(this.clock.monotonicMs()) ? held.lease : null;
  }

  heldOn(chainId: ChainId): Lease[] {
    const now = this.clock.monotonicMs();
    return [...this.leases.on(chainId)].filter((held) => held.isTrusted(now)).map((held) => held.lease);
  }

  hasAnyOn(chainId: ChainId): boolean {
    const now = this.clock.monotonicMs();
    for (const held of this.leases.on(chainId)) if (held.isTrusted(now)) return true;
    return false;
  }

  /** The chains on which this node has leases. */
  chains(): ChainId[] {
    return this.leases.chains().filter((chainId) => this.hasAnyOn(chainId));
  }

  /**
   * Records that the signers have work, so that their leases are kept.
   * @param readCompletely chains whose other signers have no work now
   */
  workSeen(
    signers: readonly SignerId[],
    readCompletely: readonly ChainId[] = signers.map(({ chainId }) => chainId),
  ): void {
    const now = this.clock.monotonicMs();
    for (const signer of signers) this.leases.get(signer)?.workSeen(now);
    for (const chainId of readCompletely) this.allWorkReadAtMs.set(chainId, now);
  }

  /** Leases of signers that had no work for a while. Each of them costs a row update at every renewal. */
  idleOn(chainId: ChainId): Lease[] {
    // Counted up to the last complete read of the work: without a read, this node does not know that a signer has none.
    const allWorkReadAtMs = this.allWorkReadAtMs.get(chainId) ?? Number.NEGATIVE_INFINITY;
    const idleAfterMs = IDLE_AFTER_DURATIONS * this.store.durationMs;
    return this.heldOn(chainId).filter((lease) => this.leases.get(lease.signer)?.isIdle(allWorkReadAtMs, idleAfterMs));
  }

  /** Renews all leases of this node in one statement. Drops those that could not be renewed. */
  async renewAll(): Promise<void> {
    const requestedAt = this.clock.monotonicMs();
    const asked = this.leases.all();
    if (asked.length === 0) return;
    const renewed = await this.store.renew(asked.map((held) => held.lease));
    const stillOurs = new Set(renewed.map(leaseKey));
    for (const held of asked) {
      if (stillOurs.has(leaseKey(held.lease))) held.renewed(requestedAt, this.store.durationMs);
      else this.drop(held.lease, 'renew');
    }
    this.metrics.count('lease_renew_total', renewed.length, { result: 'renewed' });
    this.metrics.set('lease_held', this.leases.size);
  }

  /** The database refused a write under these leases, so this node stops acting for their signers. */
  lost(error: LeaseLost): void {
    this.metrics.count('lease_fenced_total', error.leases.length, { op: error.operation });
    for (const lease of error.leases) this.drop(lease, error.operation);
    this.metrics.set('lease_held', this.leases.size);
  }

  /** Those under which no earlier write can still happen ({@link LeaseStore.withoutOpenWrites}). */
  withoutOpenWrites(leases: readonly Lease[]): Promise<Lease[]> {
    return this.store.withoutOpenWrites(leases);
  }

  /** Whether this node acts for the signer, or should try to. */
  isOurs(signer: SignerId): boolean {
    return this.held(signer) !== null || (this.custody.has(signer) && this.router.mayTake(signer));
  }

  /**
   * Releases leases, so that another node can take over at once. The caller makes sure that no lane step of their signers runs.
   * @param idle whether the signers have no work
   */
  async giveUp(leases: readonly Lease[], idle = false): Promise<void> {
    for (const lease of leases) {
      this.leases.delete(lease.signer);
      this.log.info('lease handed over', { signer: signerKey(lease.signer), fencingToken: lease.token });
    }
    await this.store.release(leases, idle);
    this.metrics.set('lease_held', this.leases.size);
  }

  /** Releases all leases at shutdown, after the work in flight, so that other nodes can take over at once. */
  async releaseAll(): Promise<void> {
    this.draining = true;
    const leases = this.leases.all().map((held) => held.lease);
    this.leases.clear();
    if (leases.length > 0) await this.store.release(leases);
    this.metrics.set('lease_held', 0);
  }

  private async acquire(signers: readonly SignerId[]): Promise<void> {
    const requestedAt = this.clock.monotonicMs();
    const acquired = await this.store.acquire(signers);
    // The lease was granted while the shutdown released the others. Nothing would renew it, and other nodes would wait for its expiry.
    if (this.draining) {
      if (acquired.length > 0) await this.store.release(acquired);
      return;
    }
    for (const lease of acquired) {
      // Clears the mark also when this node took it: a signer still marked as unserved would be taken back right after the hand-over.
      this.router.served(lease.signer);
      const isFirst = !this.hasAnyOn(lease.signer.chainId);
      this.leases.put(new SignerLease(lease, requestedAt, this.store.durationMs));
      if (isFirst) this.onFirst(lease.signer.chainId);
      this.log.info('lease acquired', { signer: signerKey(lease.signer), fencingToken: lease.token });
    }
    this.metrics.count('lease_acquire_total', acquired.length, { result: 'acquired' });
    this.metrics.count('lease_acquire_total', signers.length - acquired.length, { result: 'busy' });
    this.metrics.set('lease_held', this.leases.size);
  }

  private drop(lease: Lease, operation: string): void {
    const key = signerKey(lease.signer);
    // This node has acquired a newer lease since: keep it.
    if (this.leases.get(lease.signer)?.lease.token !== lease.token) return;
    this.leases.delete(lease.signer);
    this.metrics.count('lease_renew_total', 1, { result: 'lost' });
    this.log.warn('lease lost', { signer: key, operation, fencingToken: lease.token, nodeId: this.store.nodeId });
  }
}

function leaseKey(lease: Lease): string {
  return `${signerKey(lease.signer)}#${lease.token}`;
}

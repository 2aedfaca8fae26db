import { Injectable } from '@nestjs/common';
import { LeaseConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Custody } from '../domain/custody.js';
import type { Lease } from '../domain/lease.js';
import type { LeaseLost } from '../domain/lease-lost.js';
import { LeasesByChain } from '../domain/leases-by-chain.js';
import { LeaseStore } from '../domain/lease-store.js';
import { SignerLease } from '../domain/signer-lease.js';
import { LeaseMetrics } from './lease-metrics.js';
import { Router } from './router.js';

/** Longer than any pause between two requests of a busy signer; a lease taken again costs one statement more. */
const IDLE_AFTER_DURATIONS = 10;

/**
 * The leases of this node. It never says who may write (the fence does); it says for whom this node may *try*, and
 * stops saying so before the expiry it last knew.
 */
@Injectable()
export class LeaseManager {
  private readonly leases = new LeasesByChain();
  /** When all work of a chain was looked for last; monotonic ms. */
  private readonly lookedAtMs = new Map<ChainId, number>();
  private draining = false;
  private onFirst: (chainId: ChainId) => void = () => undefined;

  constructor(
    private readonly store: LeaseStore,
    private readonly custody: Custody,
    private readonly router: Router,
    private readonly node: NodeIdentity,
    private readonly clock: Clock,
    private readonly config: LeaseConfig,
    private readonly metrics: LeaseMetrics,
    private readonly log: Log,
  ) {}

  /** The leases this node may act under now, taking those that are free. Signers without a key here are left out. */
  async acquireOrRenew(signers: readonly SignerId[]): Promise<Lease[]> {
    const missing = signers.filter(
      (signer) => !this.held(signer) && this.custody.has(signer) && this.router.mayTake(signer),
    );
    if (missing.length > 0 && !this.draining) await this.acquire(missing);
    return signers.flatMap((signer) => this.held(signer) ?? []);
  }

  /** Takes those that nobody has, whoever is to have them: for work that only this node may know of. */
  async takeFree(signers: readonly SignerId[]): Promise<void> {
    const missing = signers.filter((signer) => !this.held(signer) && this.custody.has(signer));
    if (missing.length > 0 && !this.draining) await this.acquire(missing);
  }

  /** @param listener is told when this node has the first lease on a chain on which it had none */
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

  /** On which it has leases. */
  chains(): ChainId[] {
    return this.leases.chains().filter((chainId) => this.hasAnyOn(chainId));
  }

  /**
   * The signers have something to do, so their leases are worth their renewal.
   * @param lookedAt chains of which these are all: others had nothing to do now
   */
  workSeen(signers: readonly SignerId[], lookedAt: readonly ChainId[] = signers.map(({ chainId }) => chainId)): void {
    const now = this.clock.monotonicMs();
    for (const signer of signers) this.leases.get(signer)?.workSeen(now);
    for (const chainId of lookedAt) this.lookedAtMs.set(chainId, now);
  }

  /** Leases of signers that had nothing to do for a while: each costs a row update at every renewal. */
  idleOn(chainId: ChainId): Lease[] {
    // Not until now: who could not look has not seen that there was nothing.
    const lookedAtMs = this.lookedAtMs.get(chainId) ?? Number.NEGATIVE_INFINITY;
    const idleAfterMs = IDLE_AFTER_DURATIONS * this.config.duration;
    return this.heldOn(chainId).filter((lease) => this.leases.get(lease.signer)?.isIdle(lookedAtMs, idleAfterMs));
  }

  /** One statement for all leases of this node. What could not be renewed is dropped. */
  async renewAll(): Promise<void> {
    const requestedAt = this.clock.monotonicMs();
    const asked = this.leases.all();
    if (asked.length === 0) return;
    const renewed = await this.renew(asked.map((held) => held.lease));
    const stillOurs = new Set(renewed.map(leaseKey));
    for (const held of asked) {
      if (stillOurs.has(leaseKey(held.lease))) held.renewed(requestedAt, this.config.duration);
      else this.drop(held.lease, 'renew');
    }
    this.metrics.renewed('renewed', renewed.length);
    this.metrics.held(this.leases.size);
  }

  /** The database said so: this node acts for these signers no more. */
  lost(error: LeaseLost): void {
    this.metrics.fenced(error.operation, error.leases.length);
    for (const lease of error.leases) this.drop(lease, error.operation);
    this.metrics.held(this.leases.size);
  }

  /** Whether this node acts for the signer, or should try to. */
  isOurs(signer: SignerId): boolean {
    return this.held(signer) !== null || (this.custody.has(signer) && this.router.mayTake(signer));
  }

  /**
   * Lets another node take over at once. The caller has seen to it that the lanes are between two steps.
   * @param idle whether there is nothing to do for the signers
   */
  async giveUp(leases: readonly Lease[], idle = false): Promise<void> {
    for (const lease of leases) {
      this.leases.delete(lease.signer);
      this.log.info('lease handed over', { signer: signerKey(lease.signer), fencingToken: lease.token });
    }
    await this.store.release(this.node.id, leases, idle);
    this.metrics.held(this.leases.size);
  }

  /** On shutdown, after the work in flight: lets others take over at once. */
  async releaseAll(): Promise<void> {
    this.draining = true;
    const leases = this.leases.all().map((held) => held.lease);
    this.leases.clear();
    if (leases.length > 0) await this.store.release(this.node.id, leases);
    this.metrics.held(0);
  }

  private async acquire(signers: readonly SignerId[]): Promise<void> {
    const requestedAt = this.clock.monotonicMs();
    const acquired = await this.take(signers);
    // Granted while a shutdown released everything: nobody would renew it, and others would wait for its expiry.
    if (this.draining) {
      if (acquired.length > 0) await this.store.release(this.node.id, acquired);
      return;
    }
    for (const lease of acquired) {
      // Also by this node: had it been taken for abandoned, it would be taken back as soon as it is handed over.
      this.router.served(lease.signer);
      const isFirst = !this.hasAnyOn(lease.signer.chainId);
      this.leases.put(new SignerLease(lease, requestedAt, this.config.duration));
      if (isFirst) this.onFirst(lease.signer.chainId);
      this.log.info('lease acquired', { signer: signerKey(lease.signer), fencingToken: lease.token });
    }
    this.metrics.acquired('acquired', acquired.length);
    this.metrics.acquired('busy', signers.length - acquired.length);
    this.metrics.held(this.leases.size);
  }

  private async take(signers: readonly SignerId[]): Promise<Lease[]> {
    try {
      return await this.store.acquire(this.node.id, signers, this.terms());
    } catch (error) {
      this.metrics.acquired('error', signers.length);
      throw error;
    }
  }

  private async renew(leases: readonly Lease[]): Promise<Lease[]> {
    try {
      return await this.store.renew(this.node.id, leases, this.terms());
    } catch (error) {
      // Not lost yet: the lanes go on until the expiry they know, and stop there by themselves.
      this.metrics.renewed('error', leases.length);
      throw error;
    }
  }

  private drop(lease: Lease, operation: string): void {
    const key = signerKey(lease.signer);
    // A newer lease of ours, taken meanwhile, stays.
    if (this.leases.get(lease.signer)?.lease.token !== lease.token) return;
    this.leases.delete(lease.signer);
    this.metrics.renewed('lost', 1);
    this.log.warn('lease lost', { signer: key, operation, fencingToken: lease.token, nodeId: this.node.id });
  }

  private terms(): { durationMs: number; clockSkewAllowanceMs: number } {
    return { durationMs: this.config.duration, clockSkewAllowanceMs: this.config.clockSkewAllowance };
  }
}

function leaseKey(lease: Lease): string {
  return `${signerKey(lease.signer)}#${lease.token}`;
}

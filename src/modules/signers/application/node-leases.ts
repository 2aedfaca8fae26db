import { Injectable } from '@nestjs/common';
import { LeaseConfig } from '../../../config/lockstep-config.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { Lease } from '../domain/lease.js';
import { LeaseStore, type LeaseTerms } from '../domain/lease-store.js';

/** Takes, renews and releases leases for this node, with the durations of the config. */
@Injectable()
export class NodeLeases {
  constructor(
    private readonly store: LeaseStore,
    private readonly node: NodeIdentity,
    private readonly config: LeaseConfig,
    private readonly metrics: Metrics,
  ) {}

  get nodeId(): string {
    return this.node.id;
  }

  /** `lease.duration`. */
  get durationMs(): number {
    return this.config.duration;
  }

  async acquire(signers: readonly SignerId[]): Promise<Lease[]> {
    try {
      return await this.store.acquire(this.node.id, signers, this.terms());
    } catch (error) {
      this.metrics.count('lease_acquire_total', signers.length, { result: 'error' });
      throw error;
    }
  }

  /** A failed renewal does not lose the lease: the lane goes on until the expiry that this node knows, and stops then. */
  async renew(leases: readonly Lease[]): Promise<Lease[]> {
    try {
      return await this.store.renew(this.node.id, leases, this.terms());
    } catch (error) {
      this.metrics.count('lease_renew_total', leases.length, { result: 'error' });
      throw error;
    }
  }

  /** @param idle whether the signers have no work */
  async release(leases: readonly Lease[], idle = false): Promise<void> {
    await this.store.release(this.node.id, leases, idle);
  }

  /** As {@link LeaseStore.withoutOpenWrites}. */
  withoutOpenWrites(leases: readonly Lease[]): Promise<Lease[]> {
    return this.store.withoutOpenWrites(leases);
  }

  private terms(): LeaseTerms {
    return { durationMs: this.config.duration, clockSkewAllowanceMs: this.config.clockSkewAllowance };
  }
}

import { Injectable } from '@nestjs/common';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { preferredNode } from '../domain/rendezvous.js';

/**
 * For which signers this node should try for the lease. Only speed depends on it (I4): a signer that its preferred node leaves
 * alone for a lease's duration is anybody's.
 */
@Injectable()
export class Router {
  private nodes: readonly string[] = [];
  /** The nodes of the heartbeat before: a change counts when it is seen twice, so that one late heartbeat moves nothing. */
  private nodesBefore: readonly string[] = [];
  /** Since when a signer that is another's to serve was seen waiting without a lease; monotonic ms. */
  private readonly unservedSince = new Map<string, number>();

  constructor(
    private readonly node: NodeIdentity,
    private readonly role: NodeConfig,
    private readonly execution: ExecutionConfig,
    private readonly lease: LeaseConfig,
    private readonly clock: Clock,
  ) {}

  /** @param nodes the live nodes that act, as of the last heartbeat */
  membership(nodes: readonly string[]): void {
    this.nodesBefore = this.nodes;
    this.nodes = nodes;
  }

  mayTake(signer: SignerId): boolean {
    if (!this.role.acts) return false;
    if (this.execution.mode === 'basic') return true;
    const preferred = preferredNode(signerKey(signer), this.nodes);
    return preferred === null || preferred === this.node.id || this.isAbandoned(signer);
  }

  /**
   * Work was seen for a signer whose lease nobody holds.
   * @param lapsed whether the lease ran out on its holder, which is gone or cut off then; nobody waits for it
   */
  unserved(signer: SignerId, lapsed: boolean): void {
    const key = signerKey(signer);
    if (lapsed) this.unservedSince.set(key, Number.NEGATIVE_INFINITY);
    else if (!this.unservedSince.has(key)) this.unservedSince.set(key, this.clock.monotonicMs());
  }

  served(signer: SignerId): void {
    this.unservedSince.delete(signerKey(signer));
  }

  /** Of the signers held here, those that another live node is to have, by two heartbeats in a row. */
  misplaced(signers: readonly SignerId[]): SignerId[] {
    if (this.execution.mode === 'basic') return [];
    return signers.filter((signer) => {
      const key = signerKey(signer);
      const preferred = preferredNode(key, this.nodes);
      return preferred !== null && preferred !== this.node.id && preferred === preferredNode(key, this.nodesBefore);
    });
  }

  private isAbandoned(signer: SignerId): boolean {
    const since = this.unservedSince.get(signerKey(signer));
    return since !== undefined && this.clock.monotonicMs() - since > this.lease.duration;
  }
}

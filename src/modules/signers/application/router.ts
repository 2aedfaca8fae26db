import { Injectable } from '@nestjs/common';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { preferredNode } from '../domain/rendezvous.js';

/** Which live node can sign for which signer. */
export interface NodeKeys {
  /**
   * A node without the key of a signer is never preferred for it: the owner would hand the lease over again and again, and no node would
   * take it.
   */
  readonly canSign: (node: string, signer: SignerId) => boolean;
  /** The nodes that have the same keys as this one, including this one. */
  readonly alike: readonly string[];
}

interface Membership extends NodeKeys {
  readonly nodes: readonly string[];
}

const NO_MEMBERS: Membership = { nodes: [], canSign: () => true, alike: [] };

/**
 * Decides for which signers this node tries to get the lease. Only speed depends on it (docs/invariants.md, I4): any node may take a signer
 * that its preferred node does not serve for the duration of a lease.
 */
@Injectable()
export class Router {
  private now = NO_MEMBERS;
  /** The members at the previous heartbeat. A change counts when two heartbeats in a row show it, so one late heartbeat moves no lease. */
  private previous = NO_MEMBERS;
  /** Since when a signer that another node should serve has had work and no lease; monotonic ms. */
  private readonly unservedSince = new Map<string, number>();

  constructor(
    private readonly node: NodeIdentity,
    private readonly role: NodeConfig,
    private readonly execution: ExecutionConfig,
    private readonly lease: LeaseConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * @param nodes the live nodes that act, as of the last heartbeat
   * @param keys which of them can sign for which signer; without it, each of them for every signer
   */
  membership(nodes: readonly string[], keys: NodeKeys = { canSign: () => true, alike: nodes }): void {
    this.previous = this.now;
    this.now = { nodes, ...keys };
  }

  /** Whether this node does the work that one node does for a chain. One node of each group with the same keys is chosen. */
  isChosenFor(chainId: ChainId): boolean {
    const chosen = preferredNode(`chain ${chainId}`, this.now.alike);
    return this.role.acts && (chosen === null || chosen === this.node.id);
  }

  /**
   * Whether a live node has the key of the signer. Also true while no acting node is known: the next node that starts finds what was
   * stored.
   */
  isServed(signer: SignerId): boolean {
    const { nodes, canSign } = this.now;
    return nodes.length === 0 || nodes.some((node) => canSign(node, signer));
  }

  mayTake(signer: SignerId): boolean {
    if (!this.role.acts) return false;
    if (this.execution.mode === 'basic') return true;
    const preferred = preferredFor(signer, this.now);
    return preferred === null || preferred === this.node.id || this.isAbandoned(signer);
  }

  /**
   * The signer has work, and no node holds its lease.
   * @param lapsed whether the lease expired without a release. Its holder is dead or cut off then, so this node need not wait for it
   */
  unserved(signer: SignerId, lapsed: boolean): void {
    const key = signerKey(signer);
    if (lapsed) this.unservedSince.set(key, Number.NEGATIVE_INFINITY);
    else if (!this.unservedSince.has(key)) this.unservedSince.set(key, this.clock.monotonicMs());
  }

  served(signer: SignerId): void {
    this.unservedSince.delete(signerKey(signer));
  }

  /** The signers held here that another live node should have, according to two heartbeats in a row. */
  misplaced(signers: readonly SignerId[]): SignerId[] {
    if (this.execution.mode === 'basic') return [];
    return signers.filter((signer) => {
      const preferred = preferredFor(signer, this.now);
      return preferred !== null && preferred !== this.node.id && preferred === preferredFor(signer, this.previous);
    });
  }

  private isAbandoned(signer: SignerId): boolean {
    const since = this.unservedSince.get(signerKey(signer));
    return since !== undefined && this.clock.monotonicMs() - since > this.lease.duration;
  }
}

function preferredFor(signer: SignerId, { nodes, canSign }: Membership): string | null {
  return preferredNode(
    signerKey(signer),
    nodes.filter((node) => canSign(node, signer)),
  );
}

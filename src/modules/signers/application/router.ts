import { Injectable } from '@nestjs/common';
import { ExecutionConfig, LeaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { preferredNode } from '../domain/rendezvous.js';

/** Who can do what among the live nodes. */
export interface NodeKeys {
  /** A node without the key of a signer is never preferred for it: its holder would hand it over again and again, to nobody. */
  readonly canSign: (node: string, signer: SignerId) => boolean;
  /** The nodes that have the same keys as this one, itself among them. */
  readonly alike: readonly string[];
}

interface Membership extends NodeKeys {
  readonly nodes: readonly string[];
}

const NOBODY: Membership = { nodes: [], canSign: () => true, alike: [] };

/**
 * For which signers this node should try for the lease. Only speed depends on it (I4): a signer that its preferred node leaves
 * alone for a lease's duration is anybody's.
 */
@Injectable()
export class Router {
  private now = NOBODY;
  /** Of the heartbeat before: a change counts when it is seen twice, so that one late heartbeat moves nothing. */
  private before = NOBODY;
  /** Since when a signer that is another's to serve was seen waiting without a lease; monotonic ms. */
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
   * @param keys who of them can sign for whom; without it, each for every signer
   */
  membership(nodes: readonly string[], keys: NodeKeys = { canSign: () => true, alike: nodes }): void {
    this.before = this.now;
    this.now = { nodes, ...keys };
  }

  /** Whether it falls to this node to do what one node is to do for a chain; one of each group of nodes with the same keys. */
  isChosenFor(chainId: ChainId): boolean {
    const chosen = preferredNode(`chain ${chainId}`, this.now.alike);
    return this.role.acts && (chosen === null || chosen === this.node.id);
  }

  /**
   * Whether a live node has the key of the signer. Also while nobody knows of any node that acts: what is stored then is found by
   * the next one.
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
      const preferred = preferredFor(signer, this.now);
      return preferred !== null && preferred !== this.node.id && preferred === preferredFor(signer, this.before);
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

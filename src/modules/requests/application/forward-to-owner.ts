import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../config/lockstep-config.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { LeaseManager, NodeRegistry, NotLeader } from '../../signers/index.js';
import { Forwarding, type ForwardedAnswer, type OriginalRequest } from './forwarding.js';

/** Forwards a request to the node that acts for its signer, or refuses it, as `intake.notLeader` requires. */
@Injectable()
export class ForwardToOwner {
  constructor(
    private readonly leases: LeaseManager,
    private readonly nodes: NodeRegistry,
    private readonly forwarding: Forwarding,
    private readonly config: IntakeConfig,
  ) {}

  /**
   * @returns the answer of the owner; null when this node handles the request itself
   * @throws NotLeader when `intake.notLeader` is `reject`
   */
  async execute(signer: SignerId, original: OriginalRequest): Promise<ForwardedAnswer | null> {
    if (this.leases.held(signer) !== null || this.config.notLeader === 'accept' || original.wasForwarded) return null;
    const holder = await this.nodes.holderOf(signer);
    // When no node holds the lease, any node that may take it can handle the request.
    const isOthers = holder !== null || !this.leases.isOurs(signer);
    if (isOthers && this.config.notLeader === 'reject') throw new NotLeader(signer, holder);
    return holder?.advertisedUrl == null ? null : this.forwarding.forward(holder, original);
  }
}

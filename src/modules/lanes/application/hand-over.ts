import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type Lease, LeaseManager, Router } from '../../signers/index.js';
import { Doorbell, LeasedWork } from '../../transactions/index.js';

/** Gives up, between two steps of their lanes, the signers that another node is to have now, and those that have nothing to do. */
@Injectable()
export class HandOver {
  constructor(
    private readonly leases: LeaseManager,
    private readonly router: Router,
    private readonly work: LeasedWork,
    private readonly doorbell: Doorbell,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const held = this.leases.heldOn(chainId);
    const misplaced = new Set(this.router.misplaced(held.map((lease) => lease.signer)));
    const moving = held.filter((lease) => misplaced.has(lease.signer));
    await this.giveUp(chainId, moving, false);
    await this.giveUp(chainId, this.leases.idleOn(chainId), true);
    // Not for the idle ones: whoever is woken for a signer takes its lease, and it would be idle again.
    this.doorbell.ring(moving.map((lease) => lease.signer));
  }

  private async giveUp(chainId: ChainId, leases: readonly Lease[], idle: boolean): Promise<void> {
    await this.work.run(chainId, leases, async (held) => {
      await this.leases.giveUp(held, idle);
    });
  }
}

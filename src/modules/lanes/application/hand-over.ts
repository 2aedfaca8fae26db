import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type Lease, LeaseManager, Router } from '../../signers/index.js';
import { Doorbell, LeasedWork } from '../../ledger/index.js';

/** Releases leases between two lane steps: of signers that belong to another node now, and of idle signers. */
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
    // Not for the idle signers: a node that hears the doorbell of a signer takes its lease, which would be idle again.
    this.doorbell.ring(moving.map((lease) => lease.signer));
  }

  private async giveUp(chainId: ChainId, leases: readonly Lease[], idle: boolean): Promise<void> {
    await this.work.run(chainId, leases, async (held) => {
      await this.leases.giveUp(held, idle);
    });
  }
}

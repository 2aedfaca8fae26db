import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { LeaseManager, Router } from '../../signers/index.js';
import { Doorbell } from './doorbell.js';
import { LeasedWork } from './leased-work.js';

/** Gives signers to the node that routing prefers now, between two steps of their lanes, and tells it. */
@Injectable()
export class HandOver {
  constructor(
    private readonly leases: LeaseManager,
    private readonly router: Router,
    private readonly work: LeasedWork,
    private readonly doorbell: Doorbell,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const misplaced = new Set(this.router.misplaced(this.leases.heldOn(chainId).map((lease) => lease.signer)));
    const leases = this.leases.heldOn(chainId).filter((lease) => misplaced.has(lease.signer));
    await this.work.run(chainId, leases, async (held) => {
      await this.leases.giveUp(held);
      this.doorbell.ring(held.map((lease) => lease.signer));
    });
  }
}

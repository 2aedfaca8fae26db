import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { HeadTracker } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { BumpWatch, LeasedWork } from '../../transactions/index.js';
import { BumpStuck } from './bump-stuck.js';

/** Looks for txs that are stuck in a pool, at the signers for which the time has come. Costs nothing for the others. */
@Injectable()
export class BumpDue {
  constructor(
    private readonly leases: LeaseManager,
    private readonly heads: HeadTracker,
    private readonly watch: BumpWatch,
    private readonly work: LeasedWork,
    private readonly stuck: BumpStuck,
    private readonly config: ResubmitConfig,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const head = this.heads.appliedTip(chainId);
    if (head === null || !this.config.enabled) return;
    const due = this.watch.due(chainId, this.leases.heldOn(chainId), head);
    await this.work.run(
      chainId,
      due.map((signer) => ({ signer })),
      (leases) => this.stuck.execute(chainId, leases, head),
    );
  }
}

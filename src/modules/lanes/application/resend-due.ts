import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { FreeNonceGaps } from '../../nonces/index.js';
import { LeaseManager } from '../../signers/index.js';
import { LeasedWork, ManagedTxRepository } from '../../transactions/index.js';
import { ResendAttempts } from './resend-attempts.js';

/** Resends txs that were not mined within `resubmit.interval`: pools drop transactions, and nodes restart with empty pools. */
@Injectable()
export class ResendDue {
  constructor(
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly resend: ResendAttempts,
    private readonly gaps: FreeNonceGaps,
    private readonly config: ExecutionConfig,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const due = await this.repository.dueForResubmit(chainId, signers, this.config.batchSize);
    await this.work.run(chainId, due, async (leases, share) => {
      // Read again: the signer's worker may have changed them since.
      const txs = await this.repository.byIds(share.map((tx) => tx.id));
      const open = txs.filter((tx) => (tx.state === 'IN_MEMPOOL' || tx.state === 'ALLOCATED') && !tx.isResting);
      await this.resend.execute(chainId, leases, open);
    });
    await this.gaps.execute(chainId, signersOf(due));
  }
}

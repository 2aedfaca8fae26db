import { Injectable } from '@nestjs/common';
import type { Lease, SlotRef } from '../../../signers/index.js';
import { ManagedTxRepository } from '../../domain/managed-tx.repository.js';
import { WriteChanges } from './write-changes.js';

/** Makes the receipt checks of all txs that the signers have in the mempool due now. */
@Injectable()
export class MarkReceiptsDue {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
  ) {}

  /** Runs one transaction per page, because a signer may have more txs in flight than one statement can change in its time. */
  async execute(leases: readonly Lease[], operation: string): Promise<void> {
    let after: SlotRef | null = null;
    do after = await this.markPage(leases, operation, after);
    while (after !== null);
  }

  private async markPage(leases: readonly Lease[], operation: string, after: SlotRef | null): Promise<SlotRef | null> {
    const signers = leases.map((lease) => lease.signer);
    let last: SlotRef | null = null;
    await this.write.underFence(leases, operation, async (fence) => {
      last = await this.repository.markReceiptsDue(fence, signers, after);
      return {};
    });
    return last;
  }
}

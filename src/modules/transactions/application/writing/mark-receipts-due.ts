import { Injectable } from '@nestjs/common';
import { FencedUnitOfWork, type Lease, type SlotRef } from '../../../signers/index.js';
import { ManagedTxRepository } from '../../domain/managed-tx.repository.js';

/** Has the receipt checker ask at its next look for everything that the signers have in the mempool. */
@Injectable()
export class MarkReceiptsDue {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
  ) {}

  /** In transactions of a page each: a signer may have more in flight than one statement may change in its time. */
  async execute(leases: readonly Lease[], operation: string): Promise<void> {
    const signers = leases.map((lease) => lease.signer);
    let after: SlotRef | null = null;
    do {
      const from: SlotRef | null = after;
      after = await this.unitOfWork.run(leases, operation, (fence) =>
        this.repository.markReceiptsDue(fence, signers, from),
      );
    } while (after !== null);
  }
}

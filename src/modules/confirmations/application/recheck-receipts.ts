import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { FencedUnitOfWork, LeaseManager } from '../../signers/index.js';
import {
  MarkReceiptsDue,
  type Attempt,
  LaneMemory,
  LeasedWork,
  ManagedTxRepository,
} from '../../transactions/index.js';

/** Has the receipt checker ask at its next look, for what following the chain block by block could not tell. */
@Injectable()
export class RecheckReceipts {
  constructor(
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly markReceiptsDue: MarkReceiptsDue,
    private readonly memory: LaneMemory,
  ) {}

  /** After a gap nobody knows what was mined in it. */
  async forAll(chainId: ChainId): Promise<void> {
    const left = await this.work.run(chainId, this.leases.heldOn(chainId), async (leases) => {
      await this.markReceiptsDue.execute(leases, 'ask_again');
    });
    // Recovery asks for all receipts, too: of whom it was not possible now, it is done with their next step.
    this.memory.forget(left.map(({ signer }) => signer));
  }

  /**
   * A block has these, and the node had no receipt for them (yet).
   * @returns those for which it could not be done now
   */
  execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<Attempt[]> {
    return this.work.run(chainId, attempts, async (leases, share) => {
      const txs = (await this.repository.byIds(share.flatMap(({ txId }) => txId ?? []))).filter(
        (tx) => tx.state === 'IN_MEMPOOL',
      );
      for (const tx of txs) tx.receiptMissing(0);
      await this.unitOfWork.run(leases, 'ask_again', (fence) => this.repository.save(fence, txs));
    });
  }
}

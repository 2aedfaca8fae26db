import {
  type Attempt,
  LaneMemory,
  LeasedWork,
  ManagedTxRepository,
  MarkReceiptsDue,
  WriteChanges,
} from '../../transactions/index.js';
import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { LeaseManager } from '../../signers/index.js';

/** Makes receipts due for the next run of the receipt checker, when following the chain block by block did not find them. */
@Injectable()
export class RecheckReceipts {
  constructor(
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly markReceiptsDue: MarkReceiptsDue,
    private readonly memory: LaneMemory,
  ) {}

  /** For a gap in the followed blocks: our txs may be mined in it. */
  async forAll(chainId: ChainId): Promise<void> {
    const left = await this.work.run(chainId, this.leases.heldOn(chainId), async (leases) => {
      await this.markReceiptsDue.execute(leases, 'recheck');
    });
    // Recovery makes all receipts due, too: signers that were left out now are recovered in their next step.
    this.memory.forget(left.map(({ signer }) => signer));
  }

  /**
   * For attempts that are in a block, and for which the node had no receipt yet.
   * @returns the attempts whose txs could not be changed now
   */
  execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<Attempt[]> {
    return this.work.run(chainId, attempts, async (leases, share) => {
      const txs = (await this.repository.byIds(share.flatMap(({ txId }) => txId ?? []))).filter(
        (tx) => tx.state === 'IN_MEMPOOL',
      );
      for (const tx of txs) tx.receiptMissing(0);
      await this.write.execute(leases, 'recheck', { txs });
    });
  }
}

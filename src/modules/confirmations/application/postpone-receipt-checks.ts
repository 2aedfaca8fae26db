import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { LeasedWork, ManagedTxRepository, WriteChanges } from '../../transactions/index.js';
import type { DueTx } from './due-receipts.js';

/** Pause after an RPC error, which does not mean "no receipt", and while a nonce is in doubt. */
const CHECK_AGAIN_MS = 2_000;

/** Sets the next check of receipts that were not found. */
@Injectable()
export class PostponeReceiptChecks {
  constructor(
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly config: ConfirmationsConfig,
  ) {}

  /** @param missing `answered`: true when the node answered that no attempt has a receipt; false when a call failed */
  async execute(chainId: ChainId, missing: readonly (DueTx & { readonly answered: boolean })[]): Promise<void> {
    await this.work.run(chainId, missing, async (leases, share) => {
      const answered = new Map(share.map((item) => [item.tx.id, item.answered]));
      const txs = (await this.repository.byIds(share.map(({ tx }) => tx.id))).filter((tx) => tx.state === 'IN_MEMPOOL');
      for (const tx of txs)
        tx.receiptMissing(
          answered.get(tx.id) === true && !tx.isInDoubt ? this.config.staleReceiptTimeout : CHECK_AGAIN_MS,
        );
      await this.write.execute(leases, 'receipt_missing', { txs });
    });
  }
}

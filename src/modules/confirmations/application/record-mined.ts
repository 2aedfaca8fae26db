import { Injectable } from '@nestjs/common';
import type { Receipt } from '../../chain/index.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { FencedUnitOfWork } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  Doorbell,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';

/** A receipt of one of our attempts. */
export interface MinedAttempt {
  readonly signer: SignerId;
  readonly attempt: Attempt;
  readonly receipt: Receipt;
}

/** Writes receipts back: whichever attempt of the slot was mined, its tx is MINED with it (I9). */
@Injectable()
export class RecordMined {
  constructor(
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly doorbell: Doorbell,
    private readonly metrics: TxMetrics,
  ) {}

  async execute(chainId: ChainId, mined: readonly MinedAttempt[]): Promise<void> {
    // A fill has no tx; whoever tends it asks for its receipt.
    const ofTxs = mined.filter(({ attempt }) => attempt.txId !== null);
    await this.work.run(chainId, ofTxs, async (leases, share) => {
      const byTx = new Map(share.map((item) => [item.attempt.txId, item]));
      const txs = (await this.repository.byIds(share.flatMap(({ attempt }) => attempt.txId ?? []))).filter((tx) =>
        isOpen(tx),
      );
      if (txs.length === 0) return;
      await this.unitOfWork.run(leases, 'mined', async (fence) => {
        const winners = txs.flatMap((tx) => byTx.get(tx.id) ?? []);
        for (const tx of txs) {
          const item = byTx.get(tx.id);
          if (item) tx.mined(item.receipt);
        }
        await this.attempts.decide(
          fence,
          winners.map(({ attempt }) => attempt),
        );
        await this.repository.save(fence, txs);
      });
      this.metrics.entered(txs);
      // Each mined one makes room below `maxInFlight`.
      this.doorbell.ring(leases.map((lease) => lease.signer));
    });
  }
}

/** The same block may be read twice, and a receipt found by hash and by block: the second time there is nothing to do. */
function isOpen(tx: ManagedTx): boolean {
  return tx.state === 'ALLOCATED' || tx.state === 'IN_MEMPOOL';
}

import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains } from '../../chain/index.js';
import { FencedUnitOfWork, NonceLedger } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  Doorbell,
  LaneMemory,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';
import { ForeignNonces } from './foreign-nonces.js';

/** A tx whose nonce a node calls used, and all its attempts. */
export interface TxInDoubt {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

/** Gives a payload another nonce when a transaction that is not ours has its own for good (design, section 7). */
@Injectable()
export class ReassignNonces {
  constructor(
    private readonly chains: Chains,
    private readonly taken: ForeignNonces,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly ledger: NonceLedger,
    private readonly attempts: AttemptRepository,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
    private readonly metrics: TxMetrics,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, doubts: readonly TxInDoubt[]): Promise<void> {
    const taken = await this.taken.execute(
      this.chains.get(chainId),
      doubts.map(({ tx, attempts }) => ({
        tx,
        signer: tx.signer,
        slot: { signer: tx.signer, nonce: tx.nonce },
        hashes: attempts.map(({ txHash }) => txHash),
      })),
    );
    await this.work.run(chainId, taken, async (leases, share) => {
      const slots = new Map(share.map(({ tx, slot }) => [tx.id, slot]));
      const users = new Map(share.map(({ tx, usedBy }) => [tx.id, usedBy]));
      const known = new Map(share.map(({ tx, hashes }) => [tx.id, hashes.length]));
      // Read again: an attempt that was added since, or another state, and the proof is of something else.
      const attempts = await this.attempts.ofSlots([...slots.values()]);
      const txs = (await this.repository.byIds([...slots.keys()])).filter(
        (tx) =>
          tx.isInDoubt &&
          tx.nonce === slots.get(tx.id)?.nonce &&
          attempts.filter(({ txId }) => txId === tx.id).length === known.get(tx.id),
      );
      if (txs.length === 0) return;
      const lost = txs.map(({ signer, nonce }) => ({ signer, nonce, txHash: null }));
      for (const tx of txs) {
        const usedBy = users.get(tx.id) ?? null;
        this.log.warn('nonce was used by a foreign transaction', { txId: tx.id, nonce: tx.nonce, usedBy });
        tx.nonceTaken(usedBy);
      }
      await this.unitOfWork.run(leases, 'nonce_sync', async (fence) => {
        await this.ledger.consume(fence, lost);
        await this.attempts.decide(fence, lost);
        await this.repository.save(fence, txs);
      });
      this.metrics.entered(txs);
      const signers = txs.map((tx) => tx.signer);
      for (const signer of signers) this.memory.distrustNonce(signer);
      this.memory.madeRoom(signers);
      this.doorbell.ring(signers);
    });
  }
}

import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import {
  isFinal,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  newestOf,
  racesOf,
  reopenRace,
  WriteChanges,
} from '../../transactions/index.js';
import { ReceiptMetrics } from './receipt-metrics.js';

/** Sends final txs whose blocks were orphaned back to the mempool. */
@Injectable()
export class ReopenTxs {
  constructor(
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly metrics: ReceiptMetrics,
    private readonly log: Log,
  ) {}

  /** @param gone hashes of orphaned blocks */
  async execute(chainId: ChainId, final: readonly ManagedTx[], gone: ReadonlySet<Hash>): Promise<void> {
    await this.work.run(chainId, final, async (leases, share) => {
      // Read again: the signer's worker may have changed them since.
      const txs = (await this.repository.byIds(share.map((tx) => tx.id))).filter(
        ({ state, progress: { receipt } }) => isFinal(state) && receipt !== null && gone.has(receipt.blockHash),
      );
      const races = racesOf(txs, await this.repository.rivals(txs));
      const orphaned = new Map(txs.map((tx) => [tx.id, tx.progress.receipt?.txHash ?? '']));
      for (const tx of txs) {
        this.log.error('final transaction orphaned by a reorg', {
          txId: tx.id,
          state: tx.state,
          block: tx.progress.receipt?.blockNumber,
        });
        tx.reorged();
      }
      const rivals = races.flatMap((race) => reopenRace(race, orphaned.get(race.winner.id) ?? ''));
      const reopened = races.map(({ winner, rivals: others }) => ({
        signer: winner.signer,
        nonce: winner.nonce,
        holder: newestOf([winner, ...others.filter(({ state }) => state === 'IN_MEMPOOL')])?.id ?? winner.id,
      }));
      await this.write.execute(leases, 'reopen', {
        txs: [...txs, ...rivals],
        slots: { reopened },
        attempts: { reopened: txs },
      });
      this.metrics.newFork(txs.length);
    });
  }
}

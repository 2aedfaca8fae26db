import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { asFound, type Attempt } from '../domain/attempt.js';
import { AttemptRepository } from '../domain/attempt.repository.js';
import { ManagedTxRepository } from '../domain/managed-tx.repository.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import { BroadcastAttempts } from './broadcast-attempts.js';
import { CloseSlots } from './close-slots.js';
import { HealGaps } from './heal-gaps.js';
import { LeasedWork } from './leased-work.js';
import { TxMetrics } from './tx-metrics.js';

/** Sends the same bytes again for what was not mined within `resubmit.interval`: pools forget, nodes restart empty. */
@Injectable()
export class ResubmitDue {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly broadcast: BroadcastAttempts,
    private readonly close: CloseSlots,
    private readonly gaps: HealGaps,
    private readonly config: ExecutionConfig,
    private readonly metrics: TxMetrics,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const due = await this.repository.dueForResubmit(chainId, signers, this.config.batchSize);
    await this.work.run(chainId, due, async (leases, share) => {
      // Read again: the signer's worker may have moved them since.
      const txs = await this.repository.byIds(share.map((tx) => tx.id));
      const chain = this.chains.get(chainId);
      const open = txs.filter((tx) => tx.state === 'IN_MEMPOOL' || tx.state === 'ALLOCATED');
      const sendings = await this.latestAttempts(open);
      const closing = sendings.filter(({ tx, attempt }) => tx.isClosing && attempt.kind === 'payload');
      const others = sendings.filter((sending) => !closing.includes(sending));
      const noOps = await this.close.execute(
        chain,
        leases,
        closing.map(({ tx, attempt }) => ({ tx, payload: attempt })),
      );
      await this.broadcast.execute(chain, leases, [...others, ...noOps]);
      this.metrics.resubmitted('same_bytes', others.length);
    });
    await this.gaps.execute(chainId, signersOf(due));
  }

  private async latestAttempts(txs: readonly ManagedTx[]): Promise<{ tx: ManagedTx; attempt: Attempt }[]> {
    const attempts = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const latest = new Map(attempts.map((attempt) => [attempt.txId, attempt]));
    return txs.flatMap((tx) => {
      const attempt = latest.get(tx.id);
      return attempt ? [{ tx, attempt: asFound(attempt) }] : [];
    });
  }
}

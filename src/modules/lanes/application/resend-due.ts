import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { LeaseManager } from '../../signers/index.js';
import { BegunWork, type ManagedTx, PostponeDue, TxsInFlight } from '../../ledger/index.js';
import { ResendAttempts } from './resend-attempts.js';

/**
 * Resends txs of this node's signers that were not mined within `resubmit.interval`, in turn: pools drop transactions, and nodes restart with
 * empty pools. What is signed goes first; then what needs new bytes, which may wait for a price. What could be neither sent nor signed is due
 * again later.
 */
@Injectable()
export class ResendDue {
  private readonly resendTurns: Turns<ManagedTx>;

  constructor(
    private readonly leases: LeaseManager,
    private readonly inFlight: TxsInFlight,
    private readonly work: BegunWork,
    private readonly attempts: ResendAttempts,
    private readonly postpone: PostponeDue,
    config: ExecutionConfig,
  ) {
    this.resendTurns = new Turns(config.batchSize, ({ signer }) => signer.address);
  }

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map(({ signer }) => signer.address);
    const due = await this.resendTurns.take(chainId, signers, (some, perSigner) =>
      this.inFlight.dueForResubmit(chainId, some, perSigner),
    );
    const left = new Map(due.map((tx) => [tx.id, tx]));
    const toRenew: ManagedTx[] = [];
    try {
      await this.work.run(chainId, due, async (leases, share) => {
        const result = await this.attempts.resend(chainId, leases, share);
        toRenew.push(...result.toRenew);
        for (const { id } of result.sent) left.delete(id);
      });
    } finally {
      await this.renew(chainId, toRenew, left);
    }
  }

  private async renew(chainId: ChainId, toRenew: readonly ManagedTx[], left: Map<string, ManagedTx>): Promise<void> {
    try {
      await this.work.run(chainId, toRenew, async (leases, share) => {
        await this.attempts.renew(chainId, leases, share);
        for (const { id } of share) left.delete(id);
      });
    } finally {
      await this.postpone.execute('resubmit', [...left.values()]);
    }
  }
}

import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import type { Lease } from '../../signers/index.js';
import { InFlightLimits, type ManagedTx, ManagedTxRepository } from '../../transactions/index.js';
import { ResendAttempts } from './resend-attempts.js';

/**
 * Sends txs again that a pool refused for one of its limits, as soon as it may have room: txs of their signer were mined, or it took one
 * that it had refused. Lowest nonces first, and as many as the learnt limit allows.
 */
@Injectable()
export class ResendLimited {
  constructor(
    private readonly limits: InFlightLimits,
    private readonly repository: ManagedTxRepository,
    private readonly resend: ResendAttempts,
  ) {}

  async execute(chainId: ChainId, leases: readonly Lease[]): Promise<void> {
    const due = leases.filter((lease) => this.limits.mayResend(lease));
    if (due.length === 0) return;
    const waiting = await this.repository.waitingForPool(
      due.map((lease) => ({ signer: lease.signer, room: this.limits.ofLease(lease) })),
    );
    const bySigner = groupBy(waiting, ({ signer }) => signerKey(signer));
    for (const lease of due) this.limits.resending(lease, bySigner.has(signerKey(lease.signer)));
    const fitting = await this.fitting(due, [...bySigner.values()]);
    if (fitting.length > 0) await this.resend.execute(chainId, leases, fitting);
  }

  /** What is left of the limit of each signer above the txs that its pool has. */
  private async fitting(leases: readonly Lease[], waiting: readonly (readonly ManagedTx[])[]): Promise<ManagedTx[]> {
    const lowest = waiting.flatMap(([first]) => (first ? [first] : []));
    if (lowest.length === 0) return [];
    const around = await this.repository.inFlightAround(lowest);
    const limitOf = new Map(leases.map((lease) => [signerKey(lease.signer), this.limits.ofLease(lease)]));
    return waiting.flatMap((own, index) => {
      const limit = own[0] ? (limitOf.get(signerKey(own[0].signer)) ?? 0) : 0;
      return own.slice(0, Math.max(0, limit - (around[index]?.below ?? limit)));
    });
  }
}

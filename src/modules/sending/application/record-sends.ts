import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig, ResubmitConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { Lease } from '../../signers/index.js';
import { type AttemptOutcome, ManagedTx, ManagedTxRepository, WriteChanges } from '../../ledger/index.js';
import type { SendVerdict } from '../domain/send-verdict.js';
import type { ClassifiedSend } from './send.js';

/** Stores the answers to sends, and changes txs and slots accordingly. */
@Injectable()
export class RecordSends {
  constructor(
    private readonly write: WriteChanges,
    private readonly repository: ManagedTxRepository,
    private readonly resubmit: ResubmitConfig,
    private readonly confirmations: ConfirmationsConfig,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** @returns the txs whose payloads the nodes refused: no-ops for their nonces are due at once */
  async execute(leases: readonly Lease[], sends: readonly ClassifiedSend[]): Promise<ManagedTx[]> {
    this.report(sends);
    const originals = await this.originalsOf(sends.filter(({ verdict }) => verdict.kind === 'withdrawn'));
    const txs = sends.map((send) => this.applied(send));
    await this.write.execute(leases, 'record', {
      attempts: { answered: sends.map(({ outcome }) => outcome) },
      slots: { handedOver: originals.map(({ id, signer, nonce }) => ({ signer, nonce, txId: id })) },
      txs: [...txs, ...originals],
    });
    return txs.filter((_, index) => sends[index]?.verdict.kind === 'refused');
  }

  /** The txs that get their slots back, and are sent again in place of their replacements. */
  private async originalsOf(withdrawn: readonly ClassifiedSend[]): Promise<ManagedTx[]> {
    if (withdrawn.length === 0) return [];
    const replacementOf = new Map(withdrawn.map(({ tx }) => [tx.progress.replaces, tx.id]));
    const all = await this.repository.byIds([...replacementOf.keys()].flatMap((id) => id ?? []));
    const originals = all.filter(({ state }) => state === 'IN_MEMPOOL' || state === 'MINED');
    for (const original of originals) original.raceWithdrawn(replacementOf.get(original.id) ?? '');
    return originals;
  }

  private applied({ tx, attempt, outcome, verdict }: ClassifiedSend): ManagedTx {
    const copy = ManagedTx.rehydrate(tx.progress);
    const { error } = outcome;
    const reason = error ?? '';
    switch (verdict.kind) {
      case 'withdrawn':
        copy.withdrawn(verdict.reason);
        return copy;
      case 'refused':
        copy.close(verdict.as, verdict.reason);
        return copy;
      case 'waiting':
        if (verdict.gasLimit !== undefined) copy.wantsGas(verdict.gasLimit);
        if (copy.state === 'IN_MEMPOOL')
          copy.resubmitted(attempt.txHash, verdict.subState, this.timersAfter(verdict), error, verdict.counts);
        else copy.postponed(verdict.subState, verdict.retryInMs, reason, verdict.counts);
        return copy;
      case 'sent': {
        const timers = this.timersAfter(verdict);
        if (verdict.gasLimit !== undefined) copy.wantsGas(verdict.gasLimit);
        if (copy.state === 'IN_MEMPOOL')
          copy.resubmitted(attempt.txHash, verdict.subState ?? 'STALE', timers, error, verdict.counts);
        else copy.sent(attempt.txHash, verdict.subState, timers, error, verdict.counts);
        return copy;
      }
    }
  }

  /**
   * With `resubmit.enabled` off, Lockstep only checks the receipt of a tx that a node accepted. Every other tx gets a time for its next
   * send.
   */
  private timersAfter(verdict: Extract<SendVerdict, { kind: 'sent' | 'waiting' }>): ManagedTx['timers'] {
    const askAtOnce = this.confirmations.fetchReceiptUponEntry || (verdict.kind === 'sent' && verdict.askReceipt);
    const isDone = verdict.subState === null && !this.resubmit.enabled;
    return {
      resubmit: isDone ? 'clear' : { inMs: verdict.retryInMs },
      receiptCheck: { inMs: askAtOnce ? 0 : this.confirmations.staleReceiptTimeout },
    };
  }

  private report(sends: readonly ClassifiedSend[]): void {
    for (const { tx, attempt, outcome, verdict } of sends) {
      this.metrics.count('tx_submit_total', 1, { result: resultOf(outcome) });
      if (outcome.error === null) continue;
      this.log.warn('broadcast returned an error', {
        txId: tx.id,
        txHash: attempt.txHash,
        nonce: attempt.nonce,
        errorClass: outcome.errorClass,
        error: outcome.error,
        verdict: verdict.kind,
      });
    }
  }
}

/** The result of this send. The status of the attempt differs: an accepted attempt stays ACCEPTED after a later refusal. */
function resultOf({ error, status }: AttemptOutcome): 'accepted' | 'rejected' | 'unknown' {
  if (error === null) return 'accepted';
  return status === 'REJECTED' ? 'rejected' : 'unknown';
}

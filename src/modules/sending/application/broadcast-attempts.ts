import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig, ResubmitConfig } from '../../../config/lockstep-config.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, leasesFor, NonceLedger } from '../../signers/index.js';
import {
  type AttemptOutcome,
  AttemptRepository,
  LaneMemory,
  ManagedTx,
  ManagedTxRepository,
  outcomeOf,
  type SubmitTimers,
  TxMetrics,
} from '../../transactions/index.js';
import type { SendVerdict } from '../domain/send-verdict.js';
import { sendBatches } from './send-batches.js';
import { ClassifySends } from './classify-sends.js';
import type { AnsweredSend, ClassifiedSend, Sending } from './send.js';
import type { SignedTx } from './sign-attempts.js';

/** Sends committed bytes, in nonce order, and records what came of it. For first sends, recovery and resubmission alike. */
@Injectable()
export class BroadcastAttempts {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly ledger: NonceLedger,
    private readonly judge: ClassifySends,
    private readonly memory: LaneMemory,
    private readonly resubmit: ResubmitConfig,
    private readonly confirmations: ConfirmationsConfig,
    private readonly metrics: TxMetrics,
    private readonly crashPoints: CrashPoints,
    private readonly log: Log,
  ) {}

  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    sendings: readonly (Sending | SignedTx)[],
  ): Promise<void> {
    if (sendings.length === 0) return;
    await this.giveUpProof(leases, sendings);
    const answered = (await Promise.all(sendBatches(sendings).map((train) => send(chain, train)))).flat();
    this.crashPoints.reached('after_broadcast');
    const judged = await this.judge.execute(chain, answered);
    this.report(judged);
    await this.record(leases, judged);
    this.crashPoints.reached('after_record');
  }

  /** From now on, until the answer is written, nobody can say that they are not out: see {@link asFound}. */
  private async giveUpProof(leases: readonly Lease[], sendings: readonly Sending[]): Promise<void> {
    const refused = sendings.map(({ attempt }) => attempt).filter(({ status }) => status === 'REJECTED');
    if (refused.length === 0) return;
    const covered = leasesFor(
      leases,
      refused.map(({ signer }) => signer),
    );
    await this.unitOfWork.run(covered, 'resend', (fence) => this.attempts.aboutToSend(fence, refused));
  }

  private async record(leases: readonly Lease[], judged: readonly ClassifiedSend[]): Promise<void> {
    const covered = leasesFor(
      leases,
      judged.map(({ attempt }) => attempt.signer),
    );
    const saved = await this.unitOfWork.run(covered, 'record', async (fence) => {
      const txs = judged.flatMap((sending) => (sending.tx ? [this.applied(sending.tx, sending)] : []));
      const freed = judged
        // A refused fill keeps its slot, and is signed anew.
        .filter(({ tx, verdict }) => tx !== null && freesSlot(verdict))
        .map(({ attempt }) => ({ signer: attempt.signer, nonce: attempt.nonce }));
      await this.attempts.recordOutcomes(
        fence,
        judged.map(({ outcome }) => outcome),
      );
      await this.ledger.release(fence, freed);
      await this.repository.save(fence, txs);
      return txs;
    });
    this.metrics.entered(saved);
  }

  private applied(tx: ManagedTx, { attempt, outcome, verdict }: ClassifiedSend): ManagedTx {
    const copy = ManagedTx.rehydrate(tx.progress);
    const { error } = outcome;
    const words = error ?? '';
    switch (verdict.kind) {
      case 'refused_for_good':
        copy.failed(verdict.reason);
        return copy;
      case 'requeued':
        copy.requeued(verdict.subState, verdict.retryInMs, words);
        return copy;
      case 'refused_in_doubt':
        copy.closing(verdict.reason);
        return copy;
      case 'waiting':
        if (copy.state === 'IN_MEMPOOL')
          copy.resubmitted(attempt.txHash, verdict.subState, this.timersAfter(verdict), error);
        else copy.postponed(verdict.subState, verdict.retryInMs, words);
        return copy;
      case 'sent': {
        const timers = this.timersAfter(verdict);
        if (copy.state === 'IN_MEMPOOL')
          copy.resubmitted(attempt.txHash, verdict.subState ?? 'STALE', timers, error, verdict.counts);
        else copy.sent(attempt.txHash, verdict.subState, timers, error, verdict.counts);
        return copy;
      }
    }
  }

  /** Without `resubmit.enabled` what a node has taken is only watched; whatever else has a next time, always. */
  private timersAfter(verdict: Extract<SendVerdict, { kind: 'sent' | 'waiting' }>): SubmitTimers {
    const askAtOnce = this.confirmations.fetchReceiptUponEntry || (verdict.kind === 'sent' && verdict.askReceipt);
    const isDone = verdict.subState === null && !this.resubmit.enabled;
    return {
      resubmit: isDone ? 'clear' : { inMs: verdict.retryInMs },
      receiptCheck: { inMs: askAtOnce ? 0 : this.confirmations.staleReceiptTimeout },
    };
  }

  private report(judged: readonly ClassifiedSend[]): void {
    for (const { tx, attempt, outcome, verdict } of judged) {
      this.metrics.submitted(resultOf(outcome), 1);
      if (outcome.error === null) continue;
      const fields = {
        txId: tx?.id,
        txHash: attempt.txHash,
        nonce: attempt.nonce,
        errorClass: outcome.errorClass,
        error: outcome.error,
        verdict: verdict.kind,
      };
      this.log.warn('broadcast answered with an error', fields);
      if (freesSlot(verdict)) this.memory.gapOpened(attempt.signer);
      if (verdict.kind === 'sent' && verdict.askReceipt) this.memory.distrustNonce(attempt.signer);
    }
  }
}

function freesSlot({ kind }: SendVerdict): boolean {
  return kind === 'refused_for_good' || kind === 'requeued';
}

/** Of this send: an attempt that was accepted once stays ACCEPTED, whatever the next send of it is answered. */
function resultOf({ error, status }: AttemptOutcome): 'accepted' | 'rejected' | 'unknown' {
  if (error === null) return 'accepted';
  return status === 'REJECTED' ? 'rejected' : 'unknown';
}

async function send(chain: ChainConnector, train: readonly Sending[]): Promise<AnsweredSend[]> {
  const answers = await chain.broadcast(train.map(({ attempt }) => ({ hash: attempt.txHash, raw: attempt.raw })));
  return train.flatMap((sending, index): AnsweredSend[] => {
    const answer = answers[index];
    return answer ? [{ ...sending, outcome: outcomeOf(sending.attempt, answer) }] : [];
  });
}

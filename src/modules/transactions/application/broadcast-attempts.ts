import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig, ResubmitConfig } from '../../../config/lockstep-config.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { sameSigner } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, NonceLedger, NonceSlot } from '../../signers/index.js';
import { type Attempt, type AttemptOutcome, outcomeOf } from '../domain/attempt.js';
import { AttemptRepository } from '../domain/attempt.repository.js';
import { type SendVerdict, verdictOf } from '../domain/send-verdict.js';
import { ManagedTx, type SubmitTimers } from '../domain/managed-tx.js';
import { ManagedTxRepository } from '../domain/managed-tx.repository.js';
import { inTrains } from './in-trains.js';
import { LaneMemory } from './lane-memory.js';
import { leasesFor } from './leases-for.js';
import type { SignedTx } from './sign-attempts.js';
import { TxMetrics } from './tx-metrics.js';

/** Bytes to send, and the tx they are for (null for a fill). */
export interface Sending {
  readonly tx: ManagedTx | null;
  readonly attempt: Attempt;
}

interface Judged extends Sending {
  readonly outcome: AttemptOutcome;
  readonly verdict: SendVerdict;
}

/** Sends committed bytes, in nonce order, and records what came of it. For first sends, recovery and resubmission alike. */
@Injectable()
export class BroadcastAttempts {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly ledger: NonceLedger,
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
    const judged = (await Promise.all(inTrains(sendings).map((train) => send(chain, train)))).flat();
    this.crashPoints.reached('after_broadcast');
    const proven = await this.withProof(judged);
    this.report(proven);
    await this.record(leases, proven);
    this.crashPoints.reached('after_record');
  }

  /** A slot is freed only if no *other* attempt of it may be out either; until then the refusal waits like any other. */
  private async withProof(judged: readonly Judged[]): Promise<Judged[]> {
    const refused = judged.filter(({ verdict }) => verdict.kind === 'refused_for_good');
    if (refused.length === 0) return [...judged];
    const siblings = await this.attempts.ofSlots(refused.map(({ attempt }) => attempt));
    return judged.map((item) => {
      if (item.verdict.kind !== 'refused_for_good') return item;
      const others = siblings.filter(
        ({ txHash, nonce, signer }) =>
          txHash !== item.attempt.txHash && nonce === item.attempt.nonce && sameSigner(signer, item.attempt.signer),
      );
      const slot = NonceSlot.held(
        item.attempt.nonce,
        item.attempt.txId,
        others.some(({ status }) => status !== 'REJECTED'),
      );
      return slot.isReleasable
        ? item
        : { ...item, verdict: { kind: 'waiting', subState: 'OUTCOME_UNKNOWN', retryInMs: this.resubmit.interval } };
    });
  }

  private async record(leases: readonly Lease[], judged: readonly Judged[]): Promise<void> {
    const covered = leasesFor(
      leases,
      judged.map(({ attempt }) => attempt.signer),
    );
    const saved = await this.unitOfWork.run(covered, 'record', async (fence) => {
      const txs = judged.flatMap((sending) => (sending.tx ? [this.applied(sending.tx, sending)] : []));
      const freed = judged
        // A refused fill keeps its slot, and is signed anew.
        .filter(({ tx, verdict }) => tx !== null && verdict.kind === 'refused_for_good')
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

  private applied(tx: ManagedTx, { attempt, outcome, verdict }: Judged): ManagedTx {
    const copy = ManagedTx.rehydrate(tx.progress);
    const timers = this.timersAfter(verdict);
    if (verdict.kind === 'refused_for_good') copy.failed(verdict.reason);
    else if (verdict.kind === 'refused_in_doubt') copy.closing(verdict.reason);
    else if (copy.state === 'IN_MEMPOOL')
      copy.resubmitted(attempt.txHash, verdict.subState ?? 'STALE', timers, outcome.error);
    else if (verdict.kind === 'waiting') copy.postponed(verdict.subState, verdict.retryInMs, outcome.error ?? '');
    else copy.sent(attempt.txHash, verdict.subState, timers, outcome.error);
    return copy;
  }

  private timersAfter(verdict: SendVerdict): SubmitTimers {
    const interval = verdict.kind === 'waiting' ? verdict.retryInMs : this.resubmit.interval;
    const askAtOnce = this.confirmations.fetchReceiptUponEntry || (verdict.kind === 'sent' && verdict.askReceipt);
    return {
      resubmit: this.resubmit.enabled ? { inMs: interval } : 'clear',
      receiptCheck: { inMs: askAtOnce ? 0 : this.confirmations.staleReceiptTimeout },
    };
  }

  private report(judged: readonly Judged[]): void {
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
      if (verdict.kind === 'refused_for_good') this.memory.holeOpened(attempt.signer);
      if (verdict.kind === 'sent' && verdict.askReceipt) this.memory.distrustNonce(attempt.signer);
    }
  }
}

/** Of this send: an attempt that was accepted once stays ACCEPTED, whatever the next send of it is answered. */
function resultOf({ error, status }: AttemptOutcome): 'accepted' | 'rejected' | 'unknown' {
  if (error === null) return 'accepted';
  return status === 'REJECTED' ? 'rejected' : 'unknown';
}

async function send(chain: ChainConnector, train: readonly (Sending | SignedTx)[]): Promise<Judged[]> {
  const answers = await chain.broadcast(train.map(({ attempt }) => ({ hash: attempt.txHash, raw: attempt.raw })));
  return train.flatMap((sending, index): Judged[] => {
    const answer = answers[index];
    if (!answer) return [];
    const outcome = outcomeOf(sending.attempt, answer);
    return [{ ...sending, outcome, verdict: verdictOf(outcome) }];
  });
}

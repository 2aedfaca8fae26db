import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { slotKey } from '../../signers/index.js';
import { type Attempt, AttemptRepository } from '../../ledger/index.js';
import { anotherMayBeOut, type AnsweredSend, type ClassifiedSend } from './send.js';
import {
  HAS_ANOTHER,
  pauseAfterRefusals,
  type SendHistory,
  type SendVerdict,
  verdictOf,
} from '../domain/send-verdict.js';
import { FeeRules } from './fee-rules.js';
import { LearnPoolLimits, RefusalEvidence } from './refusal-evidence.js';

type Evidence = Pick<
  SendHistory,
  'needsSecondObservation' | 'nonceIsFree' | 'isFunded' | 'waitsForLower' | 'othersAreTaken' | 'anotherIsOut'
>;

/** Rounds of resends. Answers of one round come one after the other, so the last one about another transaction may be of the round before. */
const RECENT_ROUNDS = 2;

/** Decides what the answers to sends mean. An end needs the evidence of docs/trust.md (I13). */
@Injectable()
export class ClassifySends {
  /** When a pool of each chain last looked at a transaction, and when one last took one that it did not have; monotonic ms. */
  private readonly lastLookedAt = new Map<ChainId, number>();
  private readonly lastTaken = new Map<ChainId, number>();

  constructor(
    private readonly attempts: AttemptRepository,
    private readonly evidence: RefusalEvidence,
    private readonly fees: FeeRules,
    private readonly limits: LearnPoolLimits,
    private readonly config: ResubmitConfig,
    private readonly clock: Clock,
  ) {}

  async execute(chain: ChainConnector, answered: readonly AnsweredSend[]): Promise<ClassifiedSend[]> {
    this.learn(chain.chainId, answered);
    const known = await this.evidence.collect(chain, answered);
    const limited = await this.limits.execute(answered);
    const bumps = await this.withAnotherOut(answered);
    const classified = answered.map((send) => ({
      ...send,
      verdict: this.verdict(chain.chainId, send, {
        needsSecondObservation: known.unconfirmed.has(send),
        nonceIsFree: known.nonceIsFree.has(send),
        isFunded: known.funded.has(send),
        waitsForLower: limited.waiting.has(send),
        othersAreTaken: limited.passed.has(send) || this.isRecent(this.lastTaken.get(chain.chainId)),
        anotherIsOut: bumps.has(send),
      }),
    }));
    return this.withProof(classified);
  }

  private learn(chainId: ChainId, answered: readonly AnsweredSend[]): void {
    for (const { outcome } of answered) {
      const { error, errorClass } = outcome;
      if (error === null || (errorClass !== null && HAS_ANOTHER.has(errorClass)))
        this.lastLookedAt.set(chainId, this.clock.monotonicMs());
      if (error === null && errorClass === null) this.lastTaken.set(chainId, this.clock.monotonicMs());
      if (errorClass === 'node_fee_cap_exceeded') this.fees.learnLimit(chainId, error ?? '');
    }
  }

  private verdict(chainId: ChainId, send: AnsweredSend, evidence: Evidence): SendVerdict {
    const { maxRefusals, maxRefusalsInDoubt, interval } = this.config;
    const verdict = verdictOf(send.outcome, {
      equalTries: (subState) => send.tx.equalTries(subState),
      ...evidence,
      othersGetThrough: this.isRecent(this.lastLookedAt.get(chainId)),
      maxRefusals,
      maxRefusalsInDoubt,
      intervalMs: interval,
    });
    return send.attempt.kind === 'payload' ? verdict : asNoOp(verdict, send, interval);
  }

  private isRecent(atMs: number | undefined): boolean {
    return atMs !== undefined && this.clock.monotonicMs() - atMs <= RECENT_ROUNDS * this.config.interval;
  }

  /** The sends whose refusal may be about their price alone, because another attempt of the slot may be out. */
  private async withAnotherOut(answered: readonly AnsweredSend[]): Promise<ReadonlySet<AnsweredSend>> {
    const inQuestion = answered.filter(isPerhapsBump);
    if (inQuestion.length === 0) return new Set();
    const siblings = await this.attempts.ofSlots(inQuestion.map(({ attempt }) => attempt));
    return new Set(inQuestion.filter(({ attempt }) => anotherMayBeOut(attempt, siblings)));
  }

  /** A slot is released only if no *other* attempt of it may be out. Otherwise it must be closed. */
  private async withProof(classified: readonly ClassifiedSend[]): Promise<ClassifiedSend[]> {
    const freeing = classified.filter(({ verdict: { kind } }) => kind === 'refused_for_good' || kind === 'requeued');
    if (freeing.length === 0) return [...classified];
    const siblings = await this.attempts.ofSlots(freeing.map(({ attempt }) => attempt));
    return classified.map((item) => {
      if (!freeing.includes(item)) return item;
      const { attempt, outcome, tx } = item;
      if (tx.state !== 'IN_MEMPOOL' && !anotherMayBeOut(attempt, siblings)) return item;
      const own = siblings.filter(({ txId }) => txId === tx.id);
      if (competesWithOriginal(item, siblings) && tx.state !== 'IN_MEMPOOL' && !anotherMayBeOut(attempt, own))
        return { ...item, verdict: { kind: 'withdrawn', reason: outcome.error ?? 'refused' } };
      if (waitsForFunds(item.verdict)) return { ...item, verdict: { ...item.verdict, kind: 'waiting' } };
      return { ...item, verdict: { kind: 'refused_in_doubt', reason: outcome.error ?? 'refused' } };
    });
  }
}

/** A top-up lets it go on, so its slot is not closed. */
function waitsForFunds(verdict: SendVerdict): verdict is Extract<SendVerdict, { kind: 'requeued' }> {
  return verdict.kind === 'requeued' && verdict.subState === 'INSUFFICIENT_FUNDS';
}

/** Whether the tx that it replaces was signed for the same slot. A replacement may have got a slot of its own since. */
function competesWithOriginal({ tx, attempt }: AnsweredSend, known: readonly Attempt[]): boolean {
  const { replaces } = tx.progress;
  return replaces !== null && known.some((other) => other.txId === replaces && slotKey(other) === slotKey(attempt));
}

/** A pool has another transaction with the nonce, or a tx that is in a pool already has an attempt that no node accepted. */
function isPerhapsBump({ tx, outcome: { errorClass, status } }: AnsweredSend): boolean {
  if (errorClass === null) return false;
  return HAS_ANOTHER.has(errorClass) || (tx.state === 'IN_MEMPOOL' && status === 'REJECTED');
}

/** A no-op closes a slot or fills a nonce gap and has no payload to lose. It is signed again, and a refusal never ends the tx. */
function asNoOp(verdict: SendVerdict, { tx, attempt }: AnsweredSend, intervalMs: number): SendVerdict {
  switch (verdict.kind) {
    case 'sent':
    case 'waiting':
      return verdict;
    case 'requeued':
    case 'withdrawn':
    case 'refused_for_good':
    case 'refused_in_doubt':
      if (attempt.kind === 'cancel') return { kind: 'waiting', subState: 'CANCELLING', retryInMs: intervalMs };
      if (waitsForFunds(verdict)) return { ...verdict, kind: 'waiting' };
      return {
        kind: 'waiting',
        subState: 'NODE_REFUSED',
        retryInMs: pauseAfterRefusals(tx.equalTries('NODE_REFUSED')),
      };
  }
}

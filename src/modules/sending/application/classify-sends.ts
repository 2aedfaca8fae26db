import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { slotKey } from '../../signers/index.js';
import { type Attempt, AttemptRepository, mayBeOut } from '../../ledger/index.js';
import { anotherMayBeInPool, type AnsweredSend, type ClassifiedSend } from './send.js';
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
  | 'needsSecondObservation'
  | 'nonceIsFree'
  | 'isFunded'
  | 'waitsForLower'
  | 'othersAreTaken'
  | 'anotherIsOut'
  | 'hasOriginal'
  | 'otherGas'
>;

/** What else was signed for the slots of refused sends. */
interface Rivals {
  /** Sends whose refusal may be about their price alone, because a pool may have another attempt of the slot. */
  readonly inPool: ReadonlySet<AnsweredSend>;
  /** Replacements that no node accepted, in the slot of what they replace. */
  readonly originals: ReadonlySet<AnsweredSend>;
}

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
    const rivals = await this.rivalsOf(answered);
    return answered.map((send) => ({
      ...send,
      verdict: this.verdict(chain.chainId, send, {
        needsSecondObservation: known.unconfirmed.has(send),
        nonceIsFree: known.nonceIsFree.has(send),
        isFunded: known.funded.has(send),
        waitsForLower: limited.waiting.has(send),
        othersAreTaken: limited.passed.has(send) || this.isRecent(this.lastTaken.get(chain.chainId)),
        anotherIsOut: rivals.inPool.has(send),
        hasOriginal: rivals.originals.has(send),
        otherGas: known.otherGas.get(send) ?? null,
      }),
    }));
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

  private async rivalsOf(answered: readonly AnsweredSend[]): Promise<Rivals> {
    const bumps = answered.filter(isPerhapsBump);
    const replacements = answered.filter(isRefusedReplacement);
    if (bumps.length + replacements.length === 0) return { inPool: new Set(), originals: new Set() };
    const siblings = await this.attempts.ofSlots([...bumps, ...replacements].map(({ attempt }) => attempt));
    return {
      inPool: new Set(bumps.filter(({ attempt }) => anotherMayBeInPool(attempt, siblings))),
      originals: new Set(replacements.filter((send) => competesWithOriginal(send, siblings))),
    };
  }
}

/**
 * Whether the tx that it replaces was sent for the same slot, and no pool has an attempt of its own. A replacement may have got a slot of its own
 * since; or the same one, after what it replaces had ended unsent.
 */
function competesWithOriginal({ tx, attempt }: AnsweredSend, known: readonly Attempt[]): boolean {
  const { replaces } = tx.progress;
  const own = known.filter(({ txId }) => txId === tx.id);
  return (
    known.some((other) => other.txId === replaces && slotKey(other) === slotKey(attempt) && mayBeOut(other)) &&
    !anotherMayBeInPool(attempt, own)
  );
}

/** A pool has another transaction with the nonce, or a tx that is in a pool already has an attempt that no node accepted. */
function isPerhapsBump({ tx, outcome: { errorClass, status } }: AnsweredSend): boolean {
  if (errorClass === null) return false;
  return HAS_ANOTHER.has(errorClass) || (tx.state === 'IN_MEMPOOL' && status === 'REJECTED');
}

/** A replacement that no node has accepted. */
function isRefusedReplacement({ tx, outcome: { errorClass, status } }: AnsweredSend): boolean {
  return errorClass !== null && status === 'REJECTED' && tx.state !== 'IN_MEMPOOL' && tx.progress.replaces !== null;
}

/** A no-op closes a slot or fills a nonce gap and has no payload to lose. It is signed again, and a refusal never ends the tx. */
function asNoOp(verdict: SendVerdict, { tx, attempt }: AnsweredSend, intervalMs: number): SendVerdict {
  switch (verdict.kind) {
    case 'sent':
    case 'waiting':
      return verdict;
    case 'withdrawn':
    case 'refused':
      if (attempt.kind === 'cancel') return { kind: 'waiting', subState: 'CANCELLING', retryInMs: intervalMs };
      return {
        kind: 'waiting',
        subState: 'NODE_REFUSED',
        retryInMs: pauseAfterRefusals(tx.equalTries('NODE_REFUSED')),
      };
  }
}

import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Doorbell, InFlightLimits, ManagedTxRepository } from '../../transactions/index.js';
import { isPoolLimit } from '../domain/send-verdict.js';
import type { AnsweredSend } from './send.js';

/** Sends that a pool refused for one of its limits. */
export interface LimitedSends {
  /** Lower nonces of their signer are not mined. */
  readonly waiting: ReadonlySet<AnsweredSend>;
  /** The pool has a higher nonce of their signer, so it is not full of others. */
  readonly passed: ReadonlySet<AnsweredSend>;
}

/** Learns from the answers to sends how many txs of a signer the pools of its chain take. */
@Injectable()
export class LearnPoolLimits {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly limits: InFlightLimits,
    private readonly doorbell: Doorbell,
  ) {}

  async execute(answered: readonly AnsweredSend[]): Promise<LimitedSends> {
    const refused = answered.filter(wasLimited);
    this.noticeTaken(answered, refused);
    if (refused.length === 0) return { waiting: new Set(), passed: new Set() };
    const lowest = [...groupBy(refused, keyOf).values()].flatMap((own) => own.reduce(lower));
    const around = await this.repository.inFlightAround(lowest.map(({ attempt }) => attempt));
    const belowOf = (index: number): number => around[index]?.below ?? 0;
    lowest.forEach((send, index) => {
      const inPool = belowOf(index);
      this.limits.refused(send.attempt.signer, inPool === 0 && isWholePool(send) ? null : inPool);
    });
    const first = new Set(lowest.filter((_, index) => belowOf(index) === 0));
    return {
      waiting: new Set(refused.filter((send) => !first.has(send))),
      passed: new Set(lowest.filter((_, index) => around[index]?.isPassed)),
    };
  }

  /** A pool that takes one of the txs that waited may take the others, too. */
  private noticeTaken(answered: readonly AnsweredSend[], refused: readonly AnsweredSend[]): void {
    const limited = new Set(refused.map(keyOf));
    const taken = answered.filter((send) => send.outcome.error === null && !limited.has(keyOf(send)));
    for (const [first] of groupBy(taken, keyOf).values())
      if (first && this.limits.taken(first.attempt.signer)) this.doorbell.ring([first.attempt.signer]);
  }
}

function wasLimited({ outcome: { errorClass, error } }: AnsweredSend): boolean {
  return error !== null && errorClass !== null && isPoolLimit(errorClass);
}

/** The lowest nonce of a signer waits for the pool, not for the txs of its signer. */
function isWholePool({ outcome }: AnsweredSend): boolean {
  return outcome.errorClass === 'txpool_full';
}

function keyOf({ attempt }: AnsweredSend): string {
  return signerKey(attempt.signer);
}

function lower(a: AnsweredSend, b: AnsweredSend): AnsweredSend {
  return b.attempt.nonce < a.attempt.nonce ? b : a;
}

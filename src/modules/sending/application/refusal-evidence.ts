import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { actionOf, type ChainConnector, SecondObservations } from '../../chain/index.js';
import { Doorbell, FundsRepository, InFlightLimits, TxsInFlight } from '../../ledger/index.js';
import { AskBalances } from './ask-balances.js';
import { OtherGas } from './other-gas.js';
import type { AnsweredSend } from './send.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey, signersOf } from '../../../kernel/signer-id.js';
import { mayBePoolLimit } from '../domain/send-verdict.js';

/** What is known about refusals besides the words of the nodes. */
export interface KnownOfRefusals {
  /** Only one endpoint refused them for good, without an equal refusal at an earlier block. */
  readonly unconfirmed: ReadonlySet<AnsweredSend>;
  /** Nodes reported their nonce as used again and again although the chain has not used it. */
  readonly nonceIsFree: ReadonlySet<AnsweredSend>;
  /** Nodes refused them for lack of funds again and again although the balance covers all that their signer has in flight. */
  readonly funded: ReadonlySet<AnsweredSend>;
  /** Gas limits other than those for which nodes refused them. */
  readonly otherGas: ReadonlyMap<AnsweredSend, bigint>;
}

/** Compares refusals with what the chain says, before they end something. Asks only when a refusal is about to. */
@Injectable()
export class RefusalEvidence {
  constructor(
    private readonly observations: SecondObservations,
    private readonly funds: FundsRepository,
    private readonly balances: AskBalances,
    private readonly gas: OtherGas,
    private readonly config: ResubmitConfig,
  ) {}

  async collect(chain: ChainConnector, answered: readonly AnsweredSend[]): Promise<KnownOfRefusals> {
    // An earlier refusal of what a node accepts is outdated.
    for (const { attempt, outcome } of answered) if (outcome.error === null) this.observations.forget(attempt.txHash);
    return {
      unconfirmed: await this.withoutSecondObservation(chain, answered),
      nonceIsFree: await this.withFreeNonce(chain, answered),
      funded: await this.withFunds(chain, answered),
      otherGas: await this.gas.execute(chain, answered),
    };
  }

  private async withoutSecondObservation(
    chain: ChainConnector,
    answered: readonly AnsweredSend[],
  ): Promise<ReadonlySet<AnsweredSend>> {
    const alone = answered.filter((send) => send.outcome.alone && isAnsweredBy(send, 'fail_payload'));
    if (alone.length === 0) return new Set();
    const block = await chain.head();
    return new Set(
      alone.filter(
        ({ attempt, outcome }) =>
          !this.observations.agree('fail_payload', attempt.txHash, outcome.errorClass ?? '', block),
      ),
    );
  }

  private async withFreeNonce(
    chain: ChainConnector,
    answered: readonly AnsweredSend[],
  ): Promise<ReadonlySet<AnsweredSend>> {
    const called = answered.filter(
      (send) => isAnsweredBy(send, 'check_receipts') && send.tx.equalTries('NONCE_SYNC') + 1 >= this.config.maxRefusals,
    );
    if (called.length === 0) return new Set();
    const counts = await chain.agreedCounts(
      called.map(({ attempt }) => attempt.signer.address),
      'latest',
    );
    return new Set(
      called.filter(({ attempt }, index) => (counts[index]?.nonce ?? attempt.nonce + 1n) <= attempt.nonce),
    );
  }

  private async withFunds(
    chain: ChainConnector,
    answered: readonly AnsweredSend[],
  ): Promise<ReadonlySet<AnsweredSend>> {
    const called = answered.filter(
      (send) =>
        isAnsweredBy(send, 'wait_for_funds') && send.tx.equalTries('INSUFFICIENT_FUNDS') + 1 >= this.config.maxRefusals,
    );
    if (called.length === 0) return new Set();
    const signers = called.map(({ attempt }) => attempt.signer);
    // Before the balances: a tx that is mined in between counts twice, and is not left out.
    const committed = await this.funds.committedWei(signers);
    const balances = await this.balances.execute(chain, signers, true);
    return new Set(
      called.filter(
        ({ attempt }, index) => (balances.get(signerKey(attempt.signer)) ?? -1n) >= (committed[index] ?? 0n),
      ),
    );
  }
}

/** Whether it is an error with this response. */
function isAnsweredBy(
  { outcome: { errorClass } }: AnsweredSend,
  response: ReturnType<typeof actionOf>['response'],
): boolean {
  return errorClass !== null && actionOf(errorClass).response === response;
}

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
    private readonly inFlight: TxsInFlight,
    private readonly limits: InFlightLimits,
    private readonly doorbell: Doorbell,
  ) {}

  async execute(answered: readonly AnsweredSend[]): Promise<LimitedSends> {
    const refused = answered.filter(wasLimited);
    this.noticeTaken(answered, refused);
    this.noticeDropped(answered);
    if (refused.length === 0) return { waiting: new Set(), passed: new Set() };
    const lowest = [...groupBy(refused, keyOf).values()].flatMap((own) => own.reduce(lower));
    const around = await this.inFlight.inFlightAround(lowest.map(({ attempt }) => attempt));
    const belowOf = (index: number): number => around[index]?.below ?? 0;
    lowest.forEach((send, index) => {
      const inPool = belowOf(index);
      this.limits.refused(send.attempt.signer, inPool === 0 && !isOfSigner(send) ? null : inPool);
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

  /** A pool that has it says so, unless another one that has it not answers first. The lane sends again what else is probably gone. */
  private noticeDropped(answered: readonly AnsweredSend[]): void {
    const dropped = answered.filter(
      ({ attempt, outcome }) => attempt.status === 'ACCEPTED' && outcome.error === null && outcome.errorClass === null,
    );
    for (const { attempt } of dropped) this.limits.dropped(attempt.signer);
    this.doorbell.ring(signersOf(dropped.map(({ attempt }) => attempt)));
  }
}

function wasLimited({ outcome: { errorClass, error } }: AnsweredSend): boolean {
  return error !== null && errorClass !== null && mayBePoolLimit(errorClass);
}

/** Whether such a refusal of the lowest nonce says how many of the signer a pool takes: not of a pool that is full, or that has not seen the last block. */
function isOfSigner({ outcome: { errorClass } }: AnsweredSend): boolean {
  return errorClass !== null && actionOf(errorClass).response === 'limit_in_flight';
}

function keyOf({ attempt }: AnsweredSend): string {
  return signerKey(attempt.signer);
}

function lower(a: AnsweredSend, b: AnsweredSend): AnsweredSend {
  return b.attempt.nonce < a.attempt.nonce ? b : a;
}

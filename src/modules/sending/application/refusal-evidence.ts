import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { actionOf, type ChainConnector, SecondObservations } from '../../chain/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';
import type { AnsweredSend } from './send.js';

/** What is known about refusals besides the words of the nodes. */
export interface KnownOfRefusals {
  /** Only one endpoint refused them for good, without an equal refusal at an earlier block. */
  readonly unconfirmed: ReadonlySet<AnsweredSend>;
  /** Nodes reported their nonce as used again and again although the chain has not used it. */
  readonly nonceIsFree: ReadonlySet<AnsweredSend>;
  /** Nodes refused them for lack of funds again and again although the balance covers all that their signer has in flight. */
  readonly funded: ReadonlySet<AnsweredSend>;
}

/** Compares refusals with what the chain says, before they end something. Asks only when a refusal is about to. */
@Injectable()
export class RefusalEvidence {
  constructor(
    private readonly observations: SecondObservations,
    private readonly repository: ManagedTxRepository,
    private readonly config: ResubmitConfig,
  ) {}

  async execute(chain: ChainConnector, answered: readonly AnsweredSend[]): Promise<KnownOfRefusals> {
    // An earlier refusal of what a node accepts is outdated.
    for (const { attempt, outcome } of answered) if (outcome.error === null) this.observations.forget(attempt.txHash);
    return {
      unconfirmed: await this.withoutSecondObservation(chain, answered),
      nonceIsFree: await this.withFreeNonce(chain, answered),
      funded: await this.withFunds(chain, answered),
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
    const committed = await this.repository.committedWei(signers);
    const balances = await chain.balances(signers.map(({ address }) => address));
    return new Set(called.filter((_, index) => (balances[index] ?? 0n) >= (committed[index] ?? 0n)));
  }
}

/** Whether it is an error with this response. */
function isAnsweredBy(
  { outcome: { errorClass } }: AnsweredSend,
  response: ReturnType<typeof actionOf>['response'],
): boolean {
  return errorClass !== null && actionOf(errorClass).response === response;
}

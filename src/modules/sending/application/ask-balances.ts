import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { distinctSigners, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import type { ChainAccounts } from '../../chain/index.js';

const MAX_BALANCES_PER_CALL = 50;

/** Asks a chain for balances on a worker that signers share: no signer waits for the balance of another one (docs/invariants.md, F3). */
@Injectable()
export class AskBalances {
  private readonly asked: FairAsk<SignerId, bigint>;

  constructor(clock: Clock, { pause }: Pauses) {
    const batches = (signers: readonly SignerId[]) => inSlices(signers, MAX_BALANCES_PER_CALL);
    this.asked = new FairAsk({ actorOf: signerKey, keyOf: signerKey, batches }, clock, pause);
  }

  /**
   * @param isEvidence also without answers to earlier questions: they are older than what the caller read before
   * @returns wei by {@link signerKey}; without those that have no answer in time
   */
  async execute(
    chain: Pick<ChainAccounts, 'balances'>,
    signers: readonly SignerId[],
    isEvidence = false,
  ): Promise<ReadonlyMap<string, bigint>> {
    const told = await this.asked.execute(distinctSigners(signers), (some) =>
      chain.balances(some.map(({ address }) => address)),
    );
    return new Map(
      told.flatMap((one): [string, bigint][] =>
        one.kind === 'answered' && !(isEvidence && one.again) ? [[signerKey(one.item), one.answer]] : [],
      ),
    );
  }
}

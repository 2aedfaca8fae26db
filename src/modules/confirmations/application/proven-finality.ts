import { Injectable } from '@nestjs/common';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, type FinalHeights, FinalityRule, HeadTracker } from '../../chain/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';

/** Finds the heights up to which txs are final. */
@Injectable()
export class ProvenFinality {
  constructor(
    private readonly chains: Chains,
    private readonly tracker: HeadTracker,
    private readonly repository: ManagedTxRepository,
    private readonly finality: FinalityRule,
    private readonly log: Log,
  ) {}

  /**
   * The endpoints must agree on a followed block. Blocks are linked by hash, so the endpoints then agree on all blocks below it. An
   * endpoint on another branch, or with a false head, makes no tx final. Costs a call only when a tx is deep enough.
   *
   * @returns null when no tx can become final now
   */
  async execute(chainId: ChainId, signers: readonly SignerId[], head: number): Promise<FinalHeights | null> {
    const heights = await this.heights(chainId, head);
    if (heights === null) return null;
    const [first] = await this.repository.minedUpTo(chainId, signers, heights, { skip: 0, limit: 1 });
    if (!first) return null;
    const agreed = await this.finality.agreedHead(this.chains.get(chainId), head);
    const isOurs = agreed !== null && agreed.hash === this.tracker.hashAt(chainId, agreed.number);
    if (!isOurs) {
      this.log.warn('finality delayed: no quorum for the head, or observed only once', { chainId, head });
      return null;
    }
    return agreed.number === head ? heights : this.heights(chainId, agreed.number);
  }

  /** Asks the node for final heights only when a tx waits for them. */
  protected async heights(chainId: ChainId, head: number): Promise<FinalHeights | null> {
    if (this.finality.asksTheChain(chainId) && !(await this.repository.anyMined(chainId))) return null;
    return this.finality.heights(this.chains.get(chainId), head);
  }
}

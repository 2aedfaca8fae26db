import { Injectable } from '@nestjs/common';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { inTime } from './in-time.js';
import { NonceStanding, type SequenceView } from './nonce-standing.js';
import { type ChainUse, type SlotAttempt, SlotQueries, type SlotView, type SlotViewer } from './slot-queries.js';

export interface NonceReport extends SequenceView {
  /** Null for a nonce that was not given out yet, or that Lockstep has no record of. */
  readonly slot: SlotView | null;
  readonly attempts: readonly SlotAttempt[];
  /** The transaction that used it; null while none did, or the chain does not say so in time. */
  readonly onChain: ChainUse | null;
}

/** Who has one nonce of a signer, what was signed with it, and what the chain says of it. Writes nothing; any node can do it. */
@Injectable()
export class FindNonce {
  constructor(
    private readonly chains: Chains,
    private readonly slots: SlotQueries,
    private readonly standing: NonceStanding,
  ) {}

  /** @throws NotFound `unknown_signer` */
  async execute(signer: SignerId, nonce: Nonce, viewer: SlotViewer): Promise<NonceReport> {
    const sequence = await this.standing.of(signer);
    const slot = await this.slots.find(signer, nonce, viewer);
    const isUsed = sequence.chain !== null && sequence.chain.latest > nonce;
    return {
      ...sequence,
      slot,
      attempts: await this.slots.attempts(signer, nonce, viewer),
      onChain: slot?.onChain ?? (isUsed ? await inTime(() => this.useOf(signer, nonce)) : null),
    };
  }

  private async useOf({ chainId, address }: SignerId, nonce: Nonce): Promise<ChainUse | null> {
    const [use] = await this.chains.get(chainId).nonceUses([{ account: address, nonce, hashes: [] }]);
    if (use?.kind !== 'passed') return null;
    return { txHash: use.user?.txHash ?? null, block: use.user?.block ?? null };
  }
}

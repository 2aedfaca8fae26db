import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Chains, type Receipt, VerifiedReceipts } from '../../chain/index.js';
import { minedVerdict } from '../domain/mined-verdict.js';
import { CanonicalBlocks } from './canonical-blocks.js';
import type { Settlement } from './settle-txs.js';

/** Collects the evidence for verdicts on receipts: the canonical blocks at their heights, and the same receipts, verified now. */
@Injectable()
export class FinalityEvidence {
  constructor(
    private readonly chains: Chains,
    private readonly canonical: CanonicalBlocks,
    private readonly verified: VerifiedReceipts,
  ) {}

  /** @param head number of the newest followed block */
  async execute(chainId: ChainId, receipts: readonly Receipt[], head: number): Promise<Settlement> {
    const canonical = await this.canonical.execute(chainId, receipts);
    const { found, gone } = await this.verified.verify(this.chains.get(chainId), receipts);
    return {
      head: this.canonical.followed(chainId, head),
      fresh: found,
      verdictOf: (receipt) =>
        minedVerdict(receipt, {
          canonical: canonical.get(receipt.blockNumber),
          fresh: found.get(receipt.txHash),
          denied: gone.has(receipt.txHash),
        }),
    };
  }
}

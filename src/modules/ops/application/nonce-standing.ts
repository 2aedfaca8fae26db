import { Injectable } from '@nestjs/common';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';
import { Chains } from '../../chain/index.js';
import { FundsRepository } from '../../ledger/index.js';
import { inTime } from './in-time.js';
import { HIGHEST_NONCE, SlotQueries } from './slot-queries.js';

/** Where the sequence of a signer stands. */
export interface SequenceView {
  /** The next new nonce; null before the first alignment with the chain. */
  readonly cursor: Nonce | null;
  /** Its next nonces as one endpoint tells them; null when the chain does not answer in time. */
  readonly chain: { readonly latest: Nonce; readonly pending: Nonce } | null;
  /** Nonces from the next one of the chain on for which there is no slot: nobody has them, and what is above them waits. */
  readonly missing: { readonly from: Nonce; readonly count: number } | null;
}

/** Compares the cursor of a signer with its chain, for answers that can do without the chain. */
@Injectable()
export class NonceStanding {
  constructor(
    private readonly chains: Chains,
    private readonly funds: FundsRepository,
    private readonly slots: SlotQueries,
  ) {}

  /** @throws NotFound `unknown_signer` */
  async of(signer: SignerId): Promise<SequenceView> {
    const [known] = await this.funds.standing([signer]);
    if (known?.isKnown !== true) throw unknownSigner(signer);
    const chain = await inTime(() => this.counts(signer));
    const { next, lowest } = await this.slots.cursor(signer, chain?.latest ?? 0n);
    const count = chain === null ? 0n : (lowest ?? next ?? 0n) - chain.latest;
    return { cursor: next, chain, missing: chain && count > 0n ? { from: chain.latest, count: Number(count) } : null };
  }

  private async counts({ chainId, address }: SignerId): Promise<SequenceView['chain']> {
    const chain = this.chains.get(chainId);
    const [[latest], [pending]] = await Promise.all([
      chain.transactionCounts([address], 'latest'),
      chain.transactionCounts([address], 'pending'),
    ]);
    return isNonce(latest) && isNonce(pending) ? { latest, pending } : null;
  }
}

/** Endpoints may say anything, also what no column of a nonce can hold. */
function isNonce(count: bigint | undefined): count is Nonce {
  return count !== undefined && count <= HIGHEST_NONCE;
}

import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { ChainRules, Chains, type FeeCaps, type FeeQuote, SPEEDS, type Speed } from '../../chain/index.js';
import type { AttemptFees } from '../../ledger/index.js';
import { atMarket, initialFees } from '../domain/fee-policy.js';

/** What a transaction of each speed would offer now. Wei per gas. */
export interface QuotedFees {
  readonly chainId: ChainId;
  readonly quote: FeeQuote;
  readonly caps: FeeCaps;
  /** Within the caps of the chain. */
  readonly speeds: Readonly<Record<Speed, AttemptFees>>;
}

/** Shows the quote that lanes price with; it costs no call of its own while lanes are at work. */
@Injectable()
export class QuoteFees {
  constructor(
    private readonly chains: Chains,
    private readonly rules: ChainRules,
  ) {}

  /** @throws Unprocessable `unknown_chain`; RpcUnavailable */
  async execute(chainId: ChainId): Promise<QuotedFees> {
    const quote = await this.chains.get(chainId).feeQuote();
    const caps = this.rules.feeCaps(chainId);
    const speeds = SPEEDS.map((speed) => [speed, initialFees(atMarket(speed), quote, caps)] as const);
    return { chainId, quote, caps, speeds: Object.fromEntries(speeds) as Record<Speed, AttemptFees> };
  }
}

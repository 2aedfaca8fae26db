import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { TendAuthorizations } from '../application/tend-authorizations.js';
import { TendHolds } from '../application/tend-holds.js';
import { WatchGaps } from '../application/watch-gaps.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second what became of the nonces that signers keep for others, and which ones outside senders have left below others. */
@Injectable()
export class HoldScheduler extends ChainScheduler {
  constructor(
    private readonly holds: TendHolds,
    private readonly authorizations: TendAuthorizations,
    private readonly gaps: WatchGaps,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'holds', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    // First: it asks the database alone, and the others wait for the chain.
    await this.gaps.execute(chainId);
    try {
      await this.holds.execute(chainId);
    } finally {
      await this.authorizations.execute(chainId);
    }
  }
}

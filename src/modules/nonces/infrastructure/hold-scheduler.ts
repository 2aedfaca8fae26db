import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { TendHolds } from '../application/tend-holds.js';
import { WatchGaps } from '../application/watch-gaps.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second what became of the nonces that outside senders have, and which ones they have left below others. */
@Injectable()
export class HoldScheduler extends ChainScheduler {
  constructor(
    private readonly holds: TendHolds,
    private readonly gaps: WatchGaps,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'holds', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    // First: it asks the database alone, and the other one waits for the chain.
    await this.gaps.execute(chainId);
    await this.holds.execute(chainId);
  }
}

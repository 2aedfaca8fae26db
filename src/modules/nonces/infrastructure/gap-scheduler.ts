import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { WatchGaps } from '../application/watch-gaps.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second which nonces outside senders have left below others. */
@Injectable()
export class GapScheduler extends ChainScheduler {
  constructor(
    private readonly gaps: WatchGaps,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'nonce-gaps', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.gaps.execute(chainId);
  }
}

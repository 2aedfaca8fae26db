import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { HandOver } from '../application/hand-over.js';

/** Runs hand-over as often as the members are read. */
@Injectable()
export class HandOverScheduler extends ChainScheduler {
  constructor(
    private readonly handOver: HandOver,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'hand-over', intervalMs: () => config.lease.renewInterval, config, tickers });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.handOver.execute(chainId);
  }
}

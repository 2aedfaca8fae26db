import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { TendPermits } from '../application/tend-permits.js';

const CHECK_EVERY_MS = 1_000;

/** Looks once a second for permits that owners of this node are to sign, or have signed. */
@Injectable()
export class PermitScheduler extends ChainScheduler {
  constructor(
    private readonly permits: TendPermits,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'permits', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    await this.permits.execute(chainId);
  }
}

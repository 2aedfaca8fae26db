import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { BumpDue } from '../application/bump-due.js';
import { ResendDue } from '../application/resend-due.js';

const CHECK_EVERY_MS = 1_000;

/** Checks once a second for txs that were not mined within `resubmit.interval`, and after each new block for those that are too cheap. */
@Injectable()
export class ResubmitScheduler extends ChainScheduler {
  constructor(
    private readonly resend: ResendDue,
    private readonly bump: BumpDue,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'resubmit', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    try {
      await this.resend.execute(chainId);
    } finally {
      await this.bump.execute(chainId);
    }
  }
}

import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { ResendDue } from '../application/resend-due.js';

const CHECK_EVERY_MS = 1_000;

/** Checks once a second for txs that were not mined within `resubmit.interval`. */
@Injectable()
export class ResubmitScheduler extends ChainScheduler {
  constructor(
    private readonly resend: ResendDue,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'resubmit', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.resend.execute(chainId);
  }
}

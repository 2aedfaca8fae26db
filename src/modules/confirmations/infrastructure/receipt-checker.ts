import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { CheckReceipts } from '../application/check-receipts.js';

const CHECK_EVERY_MS = 1_000;

/** Checks once a second for txs whose receipts are due. */
@Injectable()
export class ReceiptChecker extends ChainScheduler {
  constructor(
    private readonly check: CheckReceipts,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'receipts', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.check.execute(chainId);
  }
}

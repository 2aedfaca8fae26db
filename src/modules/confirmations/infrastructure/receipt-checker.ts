import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { ChainScheduler } from '../../chain/index.js';
import { FreeNonceGaps } from '../../nonces/index.js';
import { CheckReceipts } from '../application/check-receipts.js';

const CHECK_EVERY_MS = 1_000;

/** Checks once a second for txs whose receipts are due, and then for nonces that keep their signers from being mined. */
@Injectable()
export class ReceiptChecker extends ChainScheduler {
  constructor(
    private readonly check: CheckReceipts,
    private readonly gaps: FreeNonceGaps,
    config: LockstepConfig,
    tickers: Tickers,
  ) {
    super({ name: 'receipts', intervalMs: () => CHECK_EVERY_MS, config, tickers });
  }

  protected override async tick(chainId: ChainId): Promise<void> {
    await this.gaps.execute(chainId, await this.check.execute(chainId));
  }
}

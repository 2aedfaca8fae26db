import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler } from '../../chain/index.js';
import { CheckReceipts } from '../application/check-receipts.js';

const LOOK_EVERY_MS = 1_000;

/** When: looks once a second for receipts that should be asked for. */
@Injectable()
export class ReceiptChecker extends ChainScheduler {
  constructor(
    private readonly check: CheckReceipts,
    config: LockstepConfig,
    log: Log,
  ) {
    super({ name: 'receipts', intervalMs: () => LOOK_EVERY_MS, config, log });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.check.execute(chainId);
  }
}

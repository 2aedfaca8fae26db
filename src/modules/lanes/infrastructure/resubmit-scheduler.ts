import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler } from '../../chain/index.js';
import { ResendDue } from '../application/resend-due.js';

const LOOK_EVERY_MS = 1_000;

/** When: looks once a second whether a resubmit timer has run out. */
@Injectable()
export class ResubmitScheduler extends ChainScheduler {
  constructor(
    private readonly resubmit: ResendDue,
    config: LockstepConfig,
    log: Log,
  ) {
    super({ name: 'resubmit', intervalMs: () => LOOK_EVERY_MS, config, log });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.resubmit.execute(chainId);
  }
}

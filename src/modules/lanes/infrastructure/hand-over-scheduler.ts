import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler } from '../../chain/index.js';
import { HandOver } from '../application/hand-over.js';

/** When: as often as membership is looked at. */
@Injectable()
export class HandOverScheduler extends ChainScheduler {
  constructor(
    private readonly handOver: HandOver,
    config: LockstepConfig,
    log: Log,
  ) {
    super({ name: 'hand-over', intervalMs: () => config.lease.renewInterval, config, log });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.handOver.execute(chainId);
  }
}

import { Injectable } from '@nestjs/common';
import { LockstepConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { ChainScheduler, FollowChain } from '../../chain/index.js';
import { ApplyChainUpdate } from '../application/apply-chain-update.js';

/** When: looks at the head of each chain every `pollInterval`. */
@Injectable()
export class ConfirmationManager extends ChainScheduler {
  constructor(
    private readonly follow: FollowChain,
    private readonly apply: ApplyChainUpdate,
    config: LockstepConfig,
    log: Log,
  ) {
    super({ name: 'follow', intervalMs: ({ pollInterval }) => pollInterval, config, log });
  }

  protected override tick(chainId: ChainId): Promise<void> {
    return this.follow.execute(chainId, (update) => this.apply.execute(update));
  }
}

import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LockstepConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';
import { FollowChain } from '../../chain/index.js';
import { ApplyChainUpdate } from '../application/apply-chain-update.js';

/** When: looks at the head of each chain every `pollInterval`, each by itself, so that a hung one holds up nobody. */
@Injectable()
export class ConfirmationManager implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly tickers: readonly Ticker[];

  constructor(
    config: LockstepConfig,
    follow: FollowChain,
    apply: ApplyChainUpdate,
    private readonly role: NodeConfig,
    log: Log,
  ) {
    this.tickers = config.chains.map(
      ({ id, pollInterval }) =>
        new Ticker({
          name: `follow-${id}`,
          intervalMs: pollInterval,
          run: () => follow.execute(id, (update) => apply.execute(update)),
          log,
        }),
    );
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) for (const ticker of this.tickers) ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.tickers.map((ticker) => ticker.stop()));
  }
}

import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LeaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';
import { Chains } from '../../chain/index.js';
import { HandOver } from '../application/hand-over.js';

/** When: as often as membership is looked at. */
@Injectable()
export class HandOverScheduler implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly tickers: readonly Ticker[];

  constructor(
    chains: Chains,
    handOver: HandOver,
    private readonly role: NodeConfig,
    config: LeaseConfig,
    log: Log,
  ) {
    const intervalMs = config.renewInterval;
    this.tickers = chains
      .ids()
      .map(
        (chainId) =>
          new Ticker({ name: `hand-over-${chainId}`, intervalMs, run: () => handOver.execute(chainId), log }),
      );
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) for (const ticker of this.tickers) ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all(this.tickers.map((ticker) => ticker.stop()));
  }
}

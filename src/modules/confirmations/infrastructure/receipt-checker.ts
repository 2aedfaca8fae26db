import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';
import { Chains } from '../../chain/index.js';
import { CheckReceipts } from '../application/check-receipts.js';

const LOOK_EVERY_MS = 1_000;

/** When: looks once a second, on each chain by itself, for receipts that should be asked for. */
@Injectable()
export class ReceiptChecker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly tickers: readonly Ticker[];

  constructor(
    chains: Chains,
    check: CheckReceipts,
    private readonly role: NodeConfig,
    log: Log,
  ) {
    this.tickers = chains.ids().map(
      (chainId) =>
        new Ticker({
          name: `receipts-${chainId}`,
          intervalMs: LOOK_EVERY_MS,
          run: () => check.execute(chainId),
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

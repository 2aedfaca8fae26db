import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { ChainConfig, LockstepConfig, NodeConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { Log } from '../../../platform/logging/log.js';
import { Ticker } from '../../../platform/scheduling/ticker.js';

export interface ChainSchedule {
  /** Of the tickers; each adds the id of its chain. */
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly intervalMs: (chain: ChainConfig) => number;
  readonly config: LockstepConfig;
  readonly log: Log;
}

/**
 * A step that runs again and again on every chain, on each by itself, so that a hung one holds up nobody. Only where the
 * node's role acts; on shutdown the runs in flight are awaited.
 */
export abstract class ChainScheduler implements OnApplicationBootstrap, OnModuleDestroy {
  protected readonly role: NodeConfig;
  private readonly tickers: readonly Ticker[];

  protected constructor({ name, intervalMs, config, log }: ChainSchedule) {
    this.role = config.node;
    this.tickers = config.chains.map(
      (chain) =>
        new Ticker({
          name: `${name}-${chain.id}`,
          intervalMs: intervalMs(chain),
          run: () => this.tick(chain.id),
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

  protected abstract tick(chainId: ChainId): Promise<void>;
}

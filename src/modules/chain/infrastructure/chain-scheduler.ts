import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { ChainConfig, LockstepConfig, NodeConfig } from '../../../config/lockstep-config.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import type { Tickers } from '../../../platform/scheduling/tickers.js';

export interface ChainSchedule {
  /** Prefix of the names of the tickers; each adds the id of its chain. */
  readonly name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  readonly intervalMs: (chain: ChainConfig) => number;
  readonly config: LockstepConfig;
  readonly tickers: Tickers;
}

/**
 * Runs a step periodically for every chain, with one ticker per chain, so that a hung chain does not delay the others. Runs only on
 * nodes whose role acts; a shutdown waits for the runs in flight.
 */
export abstract class ChainScheduler implements OnApplicationBootstrap, OnModuleDestroy {
  protected readonly role: NodeConfig;
  private readonly tickers: ReadonlyMap<ChainId, Ticker>;

  protected constructor({ name, intervalMs, config, tickers }: ChainSchedule) {
    this.role = config.node;
    this.tickers = new Map(
      config.chains.map((chain) => {
        const run = (): Promise<void> => this.tick(chain.id);
        return [chain.id, tickers.create({ name: `${name}-${chain.id}`, intervalMs: intervalMs(chain), run })];
      }),
    );
    tickers.onShutdown(() => this.stop());
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) for (const ticker of this.tickers.values()) ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /** Begins nothing new from now on. Resolves when the runs in flight have ended. */
  protected async stop(): Promise<void> {
    await Promise.all([...this.tickers.values()].map((ticker) => ticker.stop()));
  }

  /** Starts the next run on this chain now, or right after the run in flight. */
  protected kick(chainId: ChainId): void {
    this.tickers.get(chainId)?.kick();
  }

  protected abstract tick(chainId: ChainId): Promise<void>;
}

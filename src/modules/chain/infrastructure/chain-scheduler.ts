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
  private readonly tickers: ReadonlyMap<ChainId, Ticker>;

  protected constructor({ name, intervalMs, config, log }: ChainSchedule) {
    this.role = config.node;
    this.tickers = new Map(
      config.chains.map((chain) => {
        const run = (): Promise<void> => this.tick(chain.id);
        return [chain.id, new Ticker({ name: `${name}-${chain.id}`, intervalMs: intervalMs(chain), run, log })];
      }),
    );
  }

  onApplicationBootstrap(): void {
    if (this.role.acts) for (const ticker of this.tickers.values()) ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.tickers.values()].map((ticker) => ticker.stop()));
  }

  /** The next run on this chain is now, or right after the one in flight. */
  protected kick(chainId: ChainId): void {
    this.tickers.get(chainId)?.kick();
  }

  protected abstract tick(chainId: ChainId): Promise<void>;
}

import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type ChainConfig, type ChainInForce, chainInForce, LockstepConfig } from '../../../config/index.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { configLinesOf, differencesOf } from '../application/compare-probe.js';
import type { ProbedChain } from '../domain/probed-chain.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import { ConfiguredChains } from './configured-chains.js';

/** Of `geth --dev`, anvil and hardhat: each is another chain, and there is nothing to learn for a config. */
const LOCAL_CHAINS: ReadonlySet<ChainId> = new Set([1_337, 31_337]);
const TRY_EVERY_MS = 60_000;
const TRIES = 10;

/**
 * Asks each chain once after the start what it is. What contradicts the values in force is logged as a warning; for a chain without a
 * profile the log has lines for the config. Nothing waits for it, and a chain that does not answer is left alone after some tries.
 */
@Injectable()
export class ChainProbes implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly probed = new Map<ChainId, ProbedChain>();
  private readonly tickers: readonly Ticker[];

  constructor(
    private readonly config: LockstepConfig,
    private readonly chains: ConfiguredChains,
    private readonly log: Log,
    tickers: Tickers,
  ) {
    const chainsToProbe = config.chains.filter(({ id }) => !LOCAL_CHAINS.has(id));
    this.tickers = chainsToProbe.map((chain) => this.tickerOf(chain, tickers));
  }

  onApplicationBootstrap(): void {
    for (const ticker of this.tickers) ticker.start();
  }

  /** A shutdown does not wait for an answer: the connections are closed at its end. */
  onModuleDestroy(): void {
    for (const ticker of this.tickers) void ticker.stop();
  }

  /** In the order of the config. */
  inForce(): readonly (readonly [ChainId, ChainInForce])[] {
    return this.config.chains.map((chain) => [chain.id, this.of(chain)]);
  }

  private of(chain: ChainConfig): ChainInForce {
    return chainInForce(chain, this.config, this.probed.get(chain.id));
  }

  private tickerOf(chain: ChainConfig, tickers: Tickers): Ticker {
    let tries = 0;
    const ticker = tickers.create({
      name: `probe-${chain.id}`,
      intervalMs: TRY_EVERY_MS,
      run: async () => {
        tries += 1;
        if ((await this.probe(chain)) || tries >= TRIES) void ticker.stop();
      },
    });
    return ticker;
  }

  /** @returns whether the chain answered */
  private async probe(chain: ChainConfig): Promise<boolean> {
    try {
      const probed = await this.chains.probe(chain.id);
      const before = this.of(chain);
      this.probed.set(chain.id, probed);
      this.tell(chain.id, before, probed);
      return true;
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.info('failed to probe a chain', { chainId: chain.id, error: error.message });
      return false;
    }
  }

  private tell(chainId: ChainId, inForce: ChainInForce, probed: ProbedChain): void {
    for (const difference of differencesOf(inForce, probed))
      this.log.warn('chain differs from the values in force', { chainId, ...difference });
    if (inForce.blockTimeMs.from === 'profile') return;
    this.log.info('chain has no profile: these lines fit its entry in the config', {
      chainId,
      lines: configLinesOf(probed),
    });
  }
}

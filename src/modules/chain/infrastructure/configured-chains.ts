import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ChainConfig, chainInForce, LockstepConfig } from '../../../config/index.js';
import { Clock } from '../../../kernel/clock.js';
import { Unprocessable } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Chains, type ChainConnector } from '../domain/chain-connector.js';
import type { EndpointStatus, RpcHealth } from '../domain/endpoint-status.js';
import { NoL1DataFees } from '../domain/l1-data-fees.js';
import type { ProbedChain } from '../domain/probed-chain.js';
import { errorPattern } from '../domain/node-error-table.js';
import { EthersChainConnector } from './ethers-chain-connector.js';
import { OptimismDataFees } from './optimism-data-fees.js';
import { BATCHED, probeChain } from './probe-chain.js';
import { JsonRpcEndpoint } from './rpc/json-rpc-endpoint.js';
import { RpcPool } from './rpc/rpc-pool.js';
import { RpcReader } from './rpc/rpc-reader.js';

/** Calls of one request. What an endpoint refuses is halved, and what it takes is learnt, down to one. */
const BATCH_SIZE = 100;
/** Bytes of one request: below what nginx (1 MiB) and geth (5 MB) take by default. */
const BATCH_BYTES = 1_000_000;

interface ConfiguredChain {
  readonly connector: ChainConnector;
  readonly pool: RpcPool;
  readonly rpc: RpcReader;
  readonly endpoints: readonly JsonRpcEndpoint[];
}

/** The chains of the config. Each has its own endpoints and connections, so a hung chain does not delay the others. */
@Injectable()
export class ConfiguredChains extends Chains implements RpcHealth, OnApplicationShutdown {
  private readonly chains: ReadonlyMap<ChainId, ConfiguredChain>;

  constructor(config: LockstepConfig, metrics: Metrics, clock: Clock, log: Log) {
    super();
    this.chains = new Map(
      config.chains.map((chain) => {
        const { maxLag, l1DataFee, minPriorityFeePerGas } = chainInForce(chain, config);
        const endpoints = endpointsOf(chain);
        const errorPatterns = chain.errorPatterns.map((known) => errorPattern(known.pattern, known.class));
        const pool = new RpcPool(
          {
            chainId: chain.id,
            endpoints,
            errorPatterns,
            maxWaitMs: chain.rpcTimeout,
            maxLag: maxLag.value,
          },
          metrics,
          clock,
          log,
        );
        const rpc = new RpcReader(chain.id, pool, errorPatterns, metrics, log);
        const dataFees =
          l1DataFee.value === 'optimism' ? new OptimismDataFees(rpc, l1DataFee.from === 'config') : new NoL1DataFees();
        const connector = new EthersChainConnector(
          pool,
          rpc,
          clock,
          minPriorityFeePerGas.value,
          chain.blobProofs,
          dataFees,
        );
        return [chain.id, { connector, pool, rpc, endpoints }];
      }),
    );
  }

  ids(): readonly ChainId[] {
    return [...this.chains.keys()];
  }

  get(chainId: ChainId): ChainConnector {
    return this.of(chainId).connector;
  }

  /** @throws RpcUnavailable */
  probe(chainId: ChainId): Promise<ProbedChain> {
    const { connector, rpc, endpoints } = this.of(chainId);
    return probeChain(connector, rpc, () => endpoints.every((endpoint) => endpoint.takesBatchesOf(BATCHED)));
  }

  endpoints(): readonly EndpointStatus[] {
    return [...this.chains.values()].flatMap(({ pool }) => pool.status());
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Closes the connections: requests in flight fail, and their sends are `unknown`; what is asked later never leaves. */
  async close(): Promise<void> {
    await Promise.all([...this.chains.values()].map(({ pool }) => pool.close()));
  }

  private of(chainId: ChainId): ConfiguredChain {
    const chain = this.chains.get(chainId);
    if (chain !== undefined) return chain;
    const known = this.ids();
    throw new Unprocessable('unknown_chain', `chain ${chainId} is not configured`, `use one of: ${known.join(', ')}`, {
      chainId,
      known,
    });
  }
}

function endpointsOf(chain: ChainConfig): JsonRpcEndpoint[] {
  return chain.rpcUrls.map(
    (url, index) =>
      new JsonRpcEndpoint({
        url,
        index,
        timeoutMs: chain.rpcTimeout,
        batchSize: BATCH_SIZE,
        batchBytes: BATCH_BYTES,
      }),
  );
}

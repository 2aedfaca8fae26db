import { setImmediate } from 'node:timers/promises';
import { EthersChainConnector } from '../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { MIN_TIP_WEI_PER_GAS } from '../../src/config/index.js';
import { JsonRpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import type { RpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/rpc-endpoint.js';
import { RpcPool } from '../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { RpcReader } from '../../src/modules/chain/infrastructure/rpc/rpc-reader.js';
import type { Log } from '../../src/platform/logging/log.js';
import type { Pause } from '../../src/platform/scheduling/pause.js';
import { DEV_CHAIN } from '../support/builders.js';
import { ModelChains } from '../support/model-chain.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import type { Gate } from './gate.js';
import type { Network } from './network/network.js';
import { NodeHttp } from './node-http.js';
import type { SimClock } from './node-ports.js';
import type { SentLog } from './sent-log.js';

const MAX_LAG = 5;
/** Milliseconds of the node's own time. */
const TIMEOUT = 10_000;
const BATCH_SIZE = 100;
const BATCH_BYTES = 1_000_000;

/** Of the product, what is put on the wire; a planted bug brings others. */
export interface Wire {
  readonly Pool: typeof RpcPool;
  readonly Endpoint: new (...of: ConstructorParameters<typeof JsonRpcEndpoint>) => RpcEndpoint;
}

export const REAL_WIRE: Wire = { Pool: RpcPool, Endpoint: JsonRpcEndpoint };

interface Parts {
  readonly nodeId: string;
  readonly wire: Wire;
  readonly network: Network;
  readonly gate: Gate;
  readonly sent: SentLog;
  readonly clock: SimClock;
  readonly log: Log;
}

/** The product's own way to a chain, from the pool of endpoints down to the last byte of JSON; only the wire is simulated. */
export function nodeChains({ nodeId, wire, network, gate, sent, clock, log }: Parts): ModelChains {
  const metrics = new FakeMetrics();
  const endpoints = network.endpoints.map(
    (endpoint) =>
      new wire.Endpoint(
        {
          url: `http://endpoint-${endpoint.index}.example`,
          index: endpoint.index,
          timeoutMs: TIMEOUT,
          batchSize: BATCH_SIZE,
          batchBytes: BATCH_BYTES,
        },
        new NodeHttp(endpoint, nodeId, gate, sent),
      ),
  );
  const pool = new wire.Pool(
    { chainId: DEV_CHAIN, endpoints, errorPatterns: [], maxWaitMs: TIMEOUT, maxLag: MAX_LAG, pause: pauseOf(clock) },
    metrics,
    clock,
    log,
  );
  const rpc = new RpcReader(DEV_CHAIN, pool, [], metrics, log);
  return new ModelChains(new EthersChainConnector(pool, rpc, clock, MIN_TIP_WEI_PER_GAS, 'auto'));
}

/** Whoever waits lets time pass, unless what it waits for comes first. */
function pauseOf(clock: SimClock): Pause {
  return async (milliseconds, signal) => {
    await setImmediate();
    signal?.throwIfAborted();
    clock.advance(milliseconds);
  };
}

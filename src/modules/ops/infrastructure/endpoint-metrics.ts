import { Injectable } from '@nestjs/common';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { RpcHealth } from '../../chain/index.js';

/** State and lag of this node's RPC endpoints, read when Prometheus scrapes. Labels have protocol and host, never a path. */
@Injectable()
export class EndpointMetrics {
  constructor(metrics: Metrics, rpc: RpcHealth) {
    metrics.onScrape('rpc_endpoint_up', () => {
      for (const { chainId, endpoint, state } of rpc.endpoints())
        metrics.set('rpc_endpoint_up', state === 'up' ? 1 : 0, { chain: chainId, endpoint });
    });
    metrics.onScrape('rpc_endpoint_lag_blocks', () => {
      metrics.clear('rpc_endpoint_lag_blocks');
      for (const { chainId, endpoint, lagBlocks } of rpc.endpoints())
        if (lagBlocks !== null) metrics.set('rpc_endpoint_lag_blocks', lagBlocks, { chain: chainId, endpoint });
    });
  }
}

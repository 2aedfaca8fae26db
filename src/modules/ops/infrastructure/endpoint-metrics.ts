import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { RpcHealth } from '../../chain/index.js';

/** State and lag of this node's RPC endpoints, read when Prometheus scrapes. Labels have protocol and host, never a path. */
@Injectable()
export class EndpointMetrics {
  constructor(registry: Registry, rpc: RpcHealth) {
    const labelNames = ['chain', 'endpoint'];
    const registers = [registry];
    new Gauge({
      name: 'rpc_endpoint_up',
      help: '1 while the endpoint is in use, 0 while it fails, lags, is far ahead, serves another chain or was never reached',
      labelNames,
      registers,
      collect() {
        for (const { chainId, endpoint, state } of rpc.endpoints()) {
          this.set({ chain: String(chainId), endpoint }, state === 'up' ? 1 : 0);
        }
      },
    });
    new Gauge({
      name: 'rpc_endpoint_lag_blocks',
      help: 'Blocks behind the best head of the endpoints of its chain, where there are several; negative for an endpoint that is ahead of it',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { chainId, endpoint, lagBlocks } of rpc.endpoints()) {
          if (lagBlocks !== null) this.set({ chain: String(chainId), endpoint }, lagBlocks);
        }
      },
    });
  }
}

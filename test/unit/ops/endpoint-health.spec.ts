import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { EndpointMetrics } from '../../../src/modules/ops/infrastructure/endpoint-metrics.js';
import { anEndpoint } from './an-endpoint.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

describe('the metrics of endpoints', () => {
  it('follow state and lag at every scrape', async () => {
    const registry = new Registry();
    let endpoints = [anEndpoint(0, { state: 'lagging', lagBlocks: 50 }), anEndpoint(1, { lagBlocks: 0 })];
    new EndpointMetrics(new FakeMetrics(registry), { endpoints: () => endpoints });
    expect(await registry.metrics()).toContain('rpc_endpoint_up{chain="7",endpoint="#0 https://rpc.example"} 0');
    expect(await registry.metrics()).toContain('rpc_endpoint_up{chain="7",endpoint="#1 https://rpc.example"} 1');
    expect(await registry.metrics()).toContain(
      'rpc_endpoint_lag_blocks{chain="7",endpoint="#0 https://rpc.example"} 50',
    );
    endpoints = [anEndpoint(0), anEndpoint(1, { lagBlocks: null, state: 'wrong_chain' })];
    const text = await registry.metrics();
    expect(text).toContain('rpc_endpoint_up{chain="7",endpoint="#0 https://rpc.example"} 1');
    expect(text).not.toContain('rpc_endpoint_lag_blocks{chain="7",endpoint="#1');
  });
});
